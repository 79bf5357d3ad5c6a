package import CloudKitWebClient
import Foundation

// Values without a type.
extension ValueText {
    /// Returns a value whose type follows from its form: a number, a JSON array, a JSON string, or
    /// otherwise plain text.
    ///
    /// Text that begins like an array or a string but is neither is an error: a missing quote or
    /// bracket would change the saved value.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - key: The field, for the error's remedy.
    /// - Returns: The value.
    /// - Throws: `Mismatch` with the place and the remedy.
    package static func value(_ text: String, of key: String) throws(Mismatch) -> WireValue {
        do {
            if let number = try number(text) { return number }
            return switch text.first {
            case "[": try list(text)
            case "\"": try quoted(text)
            default: .string(text)
            }
        } catch {
            let reason = error.description
            throw Mismatch(
                description: (reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
                    + "; for the text as it stands, state the type: \(key):STRING"
            )
        }
    }

    /// Returns a number; nil for text that is not a number.
    private static func number(_ text: String) throws(Mismatch) -> WireValue? {
        if let integer = Int64(text) { return .int64(integer) }
        // Excludes 0x10, nan and inf, which Swift accepts as numbers too.
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
            let double = Double(text)
        else { return nil }
        guard text.utf8.contains(where: { ".eE".utf8.contains($0) }) else {
            throw Mismatch(description: "'\(text)' is beyond the whole numbers of 64 bits")
        }
        guard double.isFinite else {
            throw Mismatch(description: "'\(text)' is beyond the numbers of 64 bits")
        }
        return .double(double)
    }

    /// Returns the values of a JSON array with elements of one type.
    private static func list(_ text: String) throws(Mismatch) -> WireValue {
        do {
            return try json(text, as: FieldType(listOf: nil))
        } catch {
            // Integers beside fractions are fractions, as in lists that apps save.
            let decoder = JSONDecoder()
            guard let numbers = try? decoder.decode([ListedNumber].self, from: Data(text.utf8))
            else { throw error }
            return .list(numbers.map { .double($0.value) }, of: .double)
        }
    }

    /// Returns the text of a JSON string.
    private static func quoted(_ text: String) throws(Mismatch) -> WireValue {
        let scalars = text.unicodeScalars
        var isEscaped = false
        for (place, scalar) in scalars.enumerated().dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                guard place + 1 == scalars.count else {
                    throw Mismatch(
                        description: "'\(text)': more follows the closing quote, character "
                            + "\(place + 1)"
                    )
                }
                return try json(text, as: FieldType(.string))
            }
        }
        throw Mismatch(description: "'\(text)': the quote, character 1, is not closed")
    }
}

/// A number in a list of fractions, which must represent it exactly.
private struct ListedNumber: Decodable {
    let value: Double

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = try container.decode(Double.self)
        // A fraction is not an integer; it was read above.
        if let integer = try? container.decode(Int64.self), Int64(exactly: value) != integer {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "A fraction does not hold \(integer)"
            )
        }
    }
}
