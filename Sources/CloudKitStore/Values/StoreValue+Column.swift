import Foundation
import GRDB

/// A value that cannot be a field, or a field's value that cannot be a column's.
struct UnmappableValue: Error, CustomStringConvertible {
    var description: String

    init(_ column: TableColumn, found: String) {
        description =
            "the column '\(column.name)' holds \(column.form) values, and \(found) is none; correct "
            + "the value, or declare the column's form"
    }
}

extension StoreValue {
    /// The value of a column, as its form says.
    ///
    /// - Throws: ``UnmappableValue`` when the column's value is not of its form.
    init(_ value: DatabaseValue, _ column: TableColumn) throws {
        switch (column.form, value.storage) {
        case (_, .null): self = .null
        case (.integer, .int64(let number)), (.boolean, .int64(let number)):
            self = .integer(number)
        case (.real, .int64(let number)): self = .real(Double(number))
        case (.real, .double(let number)): self = .real(number)
        case (.text, .string(let text)), (.decimal, .string(let text)), (.uuid, .string(let text)):
            self = .text(text)
        case (.decimal, .int64(let number)): self = .text(String(number))
        case (.decimal, .double(let number)): self = .text("\(number)")
        case (.bytes, .blob(let data)): self = .bytes(data)
        case (.bytes, .string(let text)): self = .bytes(Data(text.utf8))
        case (.asset, .blob(let data)): self = .asset(AssetDigest(data))
        case (.asset, .string(let text)): self = .asset(AssetDigest(Data(text.utf8)))
        case (.uuid, .blob(let data)):
            guard let text = DatabaseForms.uuidText(data) else {
                throw UnmappableValue(column, found: "\(data.count) bytes")
            }
            self = .text(text)
        case (.date, .string(let text)):
            guard let milliseconds = DatabaseForms.milliseconds(text) else {
                throw UnmappableValue(column, found: "'\(text)'")
            }
            self = .date(milliseconds: milliseconds)
        case (.secondsSince1970, .int64(let seconds)):
            self = .date(milliseconds: seconds.multipliedReportingOverflow(by: 1000).partialValue)
        case (.secondsSince1970, .double(let seconds)) where abs(seconds) < 1e12:
            self = .date(milliseconds: Int64((seconds * 1000).rounded()))
        case (.list, .string(let text)):
            guard let elements = JSONText.array(text) else {
                throw UnmappableValue(column, found: "'\(text.prefix(40))'")
            }
            self = .list(elements)
        case (.location, .string(let text)):
            guard let place = JSONText.location(text) else {
                throw UnmappableValue(column, found: "'\(text.prefix(40))'")
            }
            self = .location(latitude: place.latitude, longitude: place.longitude)
        default: throw UnmappableValue(column, found: "\(value)")
        }
    }

    /// The value as a column of a form keeps it; an asset's bytes are written apart.
    ///
    /// - Throws: ``UnmappableValue`` when the field's value is not of the column's form.
    func databaseValue(for column: TableColumn) throws -> DatabaseValue {
        switch (column.form, self) {
        case (_, .null): return .null
        case (.integer, .integer(let number)), (.boolean, .integer(let number)),
            (.real, .integer(let number)):
            return number.databaseValue
        case (.real, .real(let number)): return number.databaseValue
        case (.text, .text(let text)), (.decimal, .text(let text)): return text.databaseValue
        case (.bytes, .bytes(let data)): return data.databaseValue
        case (.uuid, .text(let text)):
            return DatabaseForms.uuidBytes(text)?.databaseValue ?? text.databaseValue
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
