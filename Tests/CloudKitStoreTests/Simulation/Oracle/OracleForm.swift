import Foundation
import GRDB

/// The meaning of a column that holds whatever SQLite can hold, and of the record's fields for it.
///
/// Its values are read by type and bytes. Beside a field that does not say them all, the record says how
/// SQLite has the value, in the fields `storeForms` and `storeSecretForms`.
enum OracleForm: Sendable {
    case text, secretText, date, real, bytes, decimal, integer

    /// The field that holds the written forms.
    var formsField: String { self == .secretText ? "storeSecretForms" : "storeForms" }

    /// Returns the value of a column that is read as bytes where it is text.
    static func value(_ value: DatabaseValue, type: String) -> OracleValue {
        switch value.storage {
        case .null: .none
        case .int64(let number): integer(number)
        case .double(let number): real(number)
        case .string(let text): bytes(Data(text.utf8), type)
        case .blob(let data): bytes(data, type)
        }
    }

    /// Returns the column's value for a field and its written form; nil if these do not say it, as
    /// where a save leaves out a field that did not change.
    ///
    /// - Parameters:
    ///   - field: The field's value; nil if it was left out.
    ///   - form: The written form; nil if there is none.
    func value(_ field: OracleValue?, form: String?) -> OracleValue? {
        guard let form else { return field.map(usual) }
        let rest = String(form.dropFirst())
        switch form.first {
        case "0": return OracleValue.none
        case "i": return Int64(rest).map(Self.integer)
        case "r": return Double(rest).map(Self.real)
        case "t": return Self.bytes(Data(rest.utf8), "text")
        case "n": return Self.bytes(Data(base64Encoded: rest) ?? Data(), "text")
        case "b": return Self.bytes(Data(base64Encoded: rest) ?? Data(), "blob")
        default: break
        }
        guard case .text(let text)? = field else { return nil }
        let data = self == .bytes ? Data(base64Encoded: text) ?? Data() : Data(text.utf8)
        return Self.bytes(data, form == "T" ? "text" : "blob")
    }

    /// Returns the value in the column's usual form.
    private func usual(_ field: OracleValue) -> OracleValue {
        switch (self, field) {
        case (.date, .number(let milliseconds)):
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let text = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            let usual = text.replacing("T", with: " ").replacing("Z", with: "")
            return Self.bytes(Data(usual.utf8), "text")
        case (.integer, .number(let number)): return Self.integer(number)
        case (.real, .number(let number)): return Self.real(Double(number))
        case (.real, .real(let number)): return Self.real(number)
        case (.bytes, .text(let text)):
            return Self.bytes(Data(base64Encoded: text) ?? Data(), "blob")
        case (.decimal, .text(let text)) where text.first?.isNumber == true:
            if let number = Int64(text) { return Self.integer(number) }
            return Double(text).map(Self.real) ?? Self.bytes(Data(text.utf8), "text")
        case (_, .text(let text)): return Self.bytes(Data(text.utf8), "text")
        default: return field
        }
    }

    /// Returns the written forms in a field, `name=count:form` one after the other, by name.
    static func forms(_ text: String) -> [String: String] {
        var forms: [String: String] = [:]
        var rest = Array(text.utf8)[...]
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")),
            let colon = rest[equals...].firstIndex(of: UInt8(ascii: ":")),
            let count = Int(String(decoding: rest[(equals + 1)..<colon], as: UTF8.self))
        {
            let name = String(decoding: rest[..<equals], as: UTF8.self)
            let form = rest[(colon + 1)...].prefix(count)
            forms[name] = String(decoding: form, as: UTF8.self)
            rest = rest[form.endIndex...]
        }
        return forms
    }

    private static func integer(_ number: Int64) -> OracleValue { .text("integer \(number)") }

    private static func real(_ number: Double) -> OracleValue { .text("real \(number.bitPattern)") }

    private static func bytes(_ data: Data, _ type: String) -> OracleValue {
        .text("\(type) \(data.base64EncodedString())")
    }
}
