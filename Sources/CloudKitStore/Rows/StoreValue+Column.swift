import Foundation
import GRDB

/// An error for a column's value without a field, or a field's value that does not fit the column.
struct UnmappableValue: Error, CustomStringConvertible {
    var description: String

    init(_ column: TableColumn, found: String) {
        description =
            "the column '\(column.name)' holds \(column.form) values, but \(found) is not one; correct "
            + "the value, or declare the column's form"
    }
}

extension StoreValue {
    /// Creates the value of a column: the one of its form, with the written form where it is not
    /// the column's usual one.
    init(_ value: DatabaseValue, _ column: TableColumn) {
        switch (column.form, value.storage) {
        // The content of most columns.
        case (_, .null): self = .null
        case (.integer, .int64(let number)), (.boolean, .int64(let number)):
            self = .integer(number)
        case (.real, .double(let number)) where number.isFinite: self = .real(number)
        case (.bytes, .blob(let data)): self = .bytes(data)
        case (.text, .string(let text))
        where text.utf8.first != 0 && !column.affinity.keepsNumbers:
            self = .text(text)
        default:
            let plain = Self.plain(value, column)
            if column.form == .asset {
                self = Self.asset(value, plain)
            } else {
                self = Self.written(plain ?? .null, value, column)
            }
        }
    }

    /// Returns a value in the column's usual form, or with its written form.
    static func written(
        _ plain: StoreValue,
        _ value: DatabaseValue,
        _ column: TableColumn,
        usually usual: DatabaseValue? = nil
    ) -> StoreValue {
        // Fields have no infinities; rules compare them nevertheless.
        if case .real(let number) = plain, !number.isFinite {
            return .written(plain, as: WrittenForm.text(value, plain: plain))
        }
        // A value that the column cannot hold has no usual form.
        if let usual = usual ?? (try? plain.databaseValue(for: column)),
            column.affinity.stored(usual).isSame(as: value)
        {
            return plain
        }
        return .written(plain, as: WrittenForm.text(value, plain: plain))
    }

    /// Returns an asset; one without bytes is null with a written form, which shows that there is a value.
    private static func asset(_ value: DatabaseValue, _ plain: StoreValue?) -> StoreValue {
        guard case .asset(let digest)? = plain, digest.count > 0 else {
            return .written(.null, as: WrittenForm.text(value, plain: .null))
        }
        if case .blob = value.storage { return .asset(digest) }
        return .written(.asset(digest), as: WrittenForm.asText)
    }

    /// Returns a column's value in its form; nil for a value that does not fit it.
    private static func plain(_ value: DatabaseValue, _ column: TableColumn) -> StoreValue? {
        switch value.storage {
        case .null: .null
        case .int64(let number): plain(number, column.form)
        case .double(let number): plain(number, column.form)
        case .blob(let data): plain(data, column.form)
        case .string(let text):
            if let bytes = value.textBytes {
                plain(textOf: bytes, column.form)
            } else {
                plain(text, column.form)
            }
        }
    }

    private static func plain(_ number: Int64, _ form: ColumnForm) -> StoreValue? {
        switch form {
        case .integer, .boolean: return .integer(number)
        case .real: return .real(Double(number))
        case .decimal, .text: return .text(String(number))
        case .date, .secondsSince1970:
            let (milliseconds, isTooMuch) = number.multipliedReportingOverflow(by: 1000)
            return isTooMuch || number.magnitude > 1_000_000_000_000
                ? nil : .date(milliseconds: milliseconds)
        default: return nil
        }
    }

    private static func plain(_ number: Double, _ form: ColumnForm) -> StoreValue? {
        switch form {
        case .real: .real(number)
        case .decimal, .text: number.isFinite ? .text("\(number)") : nil
        case .date, .secondsSince1970:
            abs(number) < 1e12 ? .date(milliseconds: Int64((number * 1000).rounded())) : nil
        default: nil
        }
    }

    private static func plain(_ data: Data, _ form: ColumnForm) -> StoreValue? {
        switch form {
        case .bytes: .bytes(data)
        case .asset: .asset(AssetDigest(data))
        case .uuid: DatabaseForms.uuidText(data).map(StoreValue.text)
        case .text:
            data.contains(0) ? nil : String(validating: data, as: UTF8.self).map(StoreValue.text)
        default: nil
        }
    }

    /// Returns the string part of text with NUL or invalid UTF-8.
    private static func plain(textOf bytes: Data, _ form: ColumnForm) -> StoreValue? {
        switch form {
        case .text: .text(String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self))
        case .bytes: .bytes(bytes)
        case .asset: .asset(AssetDigest(bytes))
        default: nil
        }
    }

    private static func plain(_ text: String, _ form: ColumnForm) -> StoreValue? {
        switch form {
        case .text, .decimal, .uuid: .text(text)
        case .bytes: .bytes(Data(text.utf8))
        case .asset: .asset(AssetDigest(Data(text.utf8)))
        case .date: DatabaseForms.milliseconds(text).map(StoreValue.date)
        case .list: JSONText.array(text).map(StoreValue.list)
        case .location:
            JSONText.location(text).map {
                .location(latitude: $0.latitude, longitude: $0.longitude)
            }
        case .boolean:
            switch text.lowercased() {
            case "true": .integer(1)
            case "false": .integer(0)
            default: nil
            }
        default: nil
        }
    }

    /// Returns the value for a column of a form; an asset's bytes are written separately.
    ///
    /// - Throws: ``UnmappableValue`` when the field's value does not fit the column's form.
    func databaseValue(for column: TableColumn) throws -> DatabaseValue {
        switch (column.form, self) {
        case (_, .null): return .null
        case (_, .written(let plain, let form)):
            guard let value = WrittenForm.value(form, plain: plain) else {
                throw UnmappableValue(column, found: "the value written as '\(form.prefix(40))'")
            }
            return value
        case (.integer, .integer(let number)), (.boolean, .integer(let number)),
            (.real, .integer(let number)):
            return number.databaseValue
        case (.real, .real(let number)): return number.databaseValue
        case (.text, .text(let text)), (.decimal, .text(let text)):
            return column.affinity.number(text) ?? DatabaseValue.text(Data(text.utf8))
        case (.bytes, .bytes(let data)): return data.databaseValue
        case (.uuid, .text(let text)):
            return DatabaseForms.uuidBytes(text)?.databaseValue
                ?? DatabaseValue.text(Data(text.utf8))
        case (.date, .date(let milliseconds)):
            return DatabaseForms.text(milliseconds: milliseconds).databaseValue
        case (.secondsSince1970, .date(let milliseconds)):
            return milliseconds.isMultiple(of: 1000)
                ? (milliseconds / 1000).databaseValue
                : (Double(milliseconds) / 1000).databaseValue
        case (.list, .list(let elements)):
            guard let text = JSONText.text(elements) else {
                throw UnmappableValue(column, found: "the list \(elements)")
            }
            return text.databaseValue
        case (.location, .location(let latitude, let longitude)):
            return JSONText.text(latitude: latitude, longitude: longitude).databaseValue
        default: throw UnmappableValue(column, found: "the field's value \(self)")
        }
    }
}
