package import CloudKitWebClient
import Foundation

/// The text form of field values, as people type and read them.
package enum ValueText {
    /// An error for text that does not represent a value.
    package struct Mismatch: Error, CustomStringConvertible {
        /// The expected and the actual form.
        package let description: String
    }

    /// Returns a value of a type; lists are JSON arrays.
    package static func value(_ text: String, as type: FieldType) throws(Mismatch) -> WireValue {
        guard !type.isList, let scalar = type.scalar else { return try json(text, as: type) }
        switch scalar {
        case .string: return .string(text)
        case .int64: return .int64(try parse(text, "a whole number", Int64.init))
        case .double: return .double(try parse(text, "a number", finite))
        case .timestamp:
            return .timestamp(
                try parse(
                    text,
                    "a date such as 2026-01-31T12:00:00Z, or milliseconds",
                    milliseconds
                )
            )
        case .bytes: return .bytes(try parse(text, "base64") { Data(base64Encoded: $0) })
        case .reference:
            if text.hasPrefix("{") { return try json(text, as: type) }
            return .reference(WireReference(recordName: text, action: WireReference.Action.none))
        case .location: return try location(text)
        case .asset:
            throw Mismatch(description: "Set a file with --asset KEY=FILE, not as a value")
        }
    }

    /// Returns a value as text for people.
    package static func text(_ value: WireValue) -> String {
        switch value {
        case .string(let string): string
        case .int64(let integer): String(integer)
        case .double(let double): String(double)
        case .timestamp(let milliseconds): date(milliseconds)
        case .bytes(let data): Amount.text(data.count, "byte")
        case .reference(let reference): "-> \(reference.recordName)"
        case .location(let location): "\(location.latitude), \(location.longitude)"
        case .asset(let asset):
            asset.size.map { "file of " + Amount.text(Int($0), "byte") } ?? "file"
        case .list(let values, _): "[" + values.map(text).joined(separator: ", ") + "]"
        }
    }

    private static func parse<Value>(
        _ text: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(Mismatch) -> Value {
        guard let value = parse(text) else {
            throw Mismatch(description: "'\(text)' is not \(expected)")
        }
        return value
    }

    private static func finite(_ text: String) -> Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func location(_ text: String) throws(Mismatch) -> WireValue {
        if text.hasPrefix("{") { return try json(text, as: FieldType(.location)) }
        let numbers = text.split(separator: ",").map { finite($0.trimmingPrefix(" ").description) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
            throw Mismatch(description: "'\(text)' is not a latitude and a longitude: 47.4,8.5")
        }
        return .location(WireLocation(latitude: latitude, longitude: longitude))
    }

    /// Reads the wire's format.
    static func json(_ text: String, as type: FieldType) throws(Mismatch) -> WireValue {
        let data = Data(text.utf8)
        do {
            // Parsed separately first, because the object below accepts only a complete value.
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            let object = Data("{\"type\":\"\(type.tag)\",\"value\":".utf8) + data + Data("}".utf8)
            if let value = try WireJSON.decode(WireField.self, from: object).value { return value }
            throw Mismatch(description: "'\(text)' is null; clear a field with --clear")
        } catch let error as Mismatch {
            throw error
        } catch let error as DecodingError {
            throw Mismatch(description: "'\(text)': \(WireJSON.place(of: error))")
        } catch {
            let place = (error as NSError).userInfo["NSDebugDescription"] as? String
            throw Mismatch(
                description: "'\(text)' is not JSON of the type \(type.tag)"
                    + (place.map { ": \($0)" } ?? "")
            )
        }
    }
}
