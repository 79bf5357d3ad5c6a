import Foundation
import GRDB

/// The form in which SQLite holds a value, as text that travels beside a field which does not express it.
///
/// The first letter is the storage class: `i42`, `r1.5`, `ttext`, `bBASE64`, and `nBASE64` for text
/// with NUL or invalid UTF-8. `T` and `B` denote the field's own text or bytes, as text or as a
/// blob, and `0` denotes NULL in a column that has a default.
enum WrittenForm {
    static let null = "0"
    static let asText = "T"
    static let asBlob = "B"

    /// Returns the form of a column's value.
    static func text(_ value: DatabaseValue, plain: StoreValue) -> String {
        switch value.storage {
        case .null: return ""
        case .int64(let number): return "i\(number)"
        case .double(let number): return "r\(number)"
        case .blob(let data):
            if case .text(let text) = plain, Data(text.utf8) == data { return asBlob }
            return "b" + data.base64EncodedString()
        case .string(let text):
            if let bytes = value.textBytes { return "n" + bytes.base64EncodedString() }
            switch plain {
            case .text(let plain) where plain.hasSameBytes(as: text): return asText
            case .bytes: return asText
            default: return "t" + text
            }
        }
    }

    /// Returns the column's value of a form; nil for an invalid form.
    static func value(_ form: String, plain: StoreValue) -> DatabaseValue? {
        let rest = String(form.dropFirst())
        switch form.first {
        case "i": return Int64(rest)?.databaseValue
        case "r": return Double(rest).flatMap { $0.isNaN ? nil : $0.databaseValue }
        case "t" where rest.utf8.first != 0: return rest.databaseValue
        case "b": return Data(base64Encoded: rest)?.databaseValue
        case "n": return Data(base64Encoded: rest).map(DatabaseValue.text)
        case "T" where rest.isEmpty:
            switch plain {
            case .text(let text): return DatabaseValue.text(Data(text.utf8))
            case .bytes(let data): return DatabaseValue.text(data)
            default: return nil
            }
        case "B" where rest.isEmpty:
            guard case .text(let text) = plain else { return nil }
            return Data(text.utf8).databaseValue
        default: return nil
        }
    }
}

/// The forms of a record's values, in one string field: `field=count:form…`, where the count is
/// that of the form's bytes.
struct RecordForms {
    /// The name of the field that holds the forms.
    static let field = "storeForms"
    /// The name of the encrypted field that holds the forms of encrypted fields.
    static let encryptedField = "storeSecretForms"

    var forms: [(name: String, form: String)] = []

    /// Creates forms from their text; forms after an unreadable one are left out.
    init(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let name = rest.removePart(before: UInt8(ascii: "="))
            let number = rest.removePart(before: UInt8(ascii: ":"))
            guard !name.isEmpty, let count = Int(number.text), (0...rest.count).contains(count)
            else { return }
            forms.append((name.text, rest.prefix(count).text))
            rest = rest.dropFirst(count)
        }
    }

    /// Creates the forms of the fields that have one.
    ///
    /// - Parameters:
    ///   - fields: The values by field.
    ///   - saysNull: A closure that returns whether no value of a field means NULL rather than the
    ///     column's default.
    init(_ fields: [String: StoreValue], saysNull: (String) -> Bool) {
        for (name, value) in fields {
            switch value {
            case .written(_, let form): forms.append((name, form))
            case .null where saysNull(name): forms.append((name, WrittenForm.null))
            default: continue
            }
        }
        forms.sort { $0.name < $1.name }
    }

    /// The forms as a field's value; nil when there are none.
    var text: String? {
        guard !forms.isEmpty else { return nil }
        return forms.map { "\($0.name)=\($0.form.utf8.count):\($0.form)" }.joined()
    }
}
