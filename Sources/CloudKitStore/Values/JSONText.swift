import Foundation

/// The JSON of list columns, locations and composite keys.
enum JSONText {
    /// Returns the elements of an array of strings and numbers; nil for any other text.
    static func array(_ text: String) -> [StoreValue]? {
        // Text that is no list is kept as the text that it is.
        guard let elements = try? JSONDecoder().decode([Element].self, from: Data(text.utf8)) else {
            return nil
        }
        return elements.map(\.value)
    }

    /// Returns the integers of an object by name, as the triggers write them.
    static func times(_ text: String) throws -> [String: Int64] {
        if let times = plainTimes(text) { return times }
        return try JSONDecoder().decode([String: Int64].self, from: Data(text.utf8))
    }

    /// Returns the same for an object whose names have no escapes, without a decoder; nil for any
    /// other text.
    private static func plainTimes(_ text: String) -> [String: Int64]? {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"),
            !bytes.contains(UInt8(ascii: "\\"))
        else { return nil }
        var times: [String: Int64] = [:]
        // Names have no commas, because they are field names.
        for part in bytes.dropFirst().dropLast().split(separator: UInt8(ascii: ",")) {
            guard let (name, time) = part.pair(at: UInt8(ascii: ":")), name.count > 2,
                name.first == UInt8(ascii: "\""), name.last == UInt8(ascii: "\""),
                let number = Int64(time.text)
            else { return nil }
            times[name.dropFirst().dropLast().text] = number
        }
        return times
    }

    /// Returns the latitude and longitude of an object; nil for any other text.
    static func location(_ text: String) -> (latitude: Double, longitude: Double)? {
        // Text that is no place is kept as the text that it is.
        (try? JSONDecoder().decode(Location.self, from: Data(text.utf8)))
            .map { ($0.latitude, $0.longitude) }
    }

    static func text(latitude: Double, longitude: Double) -> String {
        "{\"latitude\":\(latitude),\"longitude\":\(longitude)}"
    }

    /// Returns an array as text; nil when an element is neither a string nor a number.
    static func text(_ elements: [StoreValue]) -> String? {
        var parts: [String] = []
        for element in elements {
            switch element {
            case .integer(let number): parts.append(String(number))
            case .real(let number) where number.isFinite: parts.append("\(number)")
            case .text(let text): parts.append(string(text))
            default: return nil
            }
        }
        return "[" + parts.joined(separator: ",") + "]"
    }

    /// Returns a string, escaped exactly as by SQLite's `json_array`.
    static func string(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\u{8}": json += "\\b"
            case "\u{C}": json += "\\f"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }

    private struct Location: Decodable {
        var latitude: Double
        var longitude: Double
    }

    private struct Element: Decodable {
        let value: StoreValue

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // Each form of a number is tried in turn.
            if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .real(number)
            } else {
                value = .text(try container.decode(String.self))
            }
        }
    }
}
