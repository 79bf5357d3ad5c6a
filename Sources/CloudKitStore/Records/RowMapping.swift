import CloudKit
import CoreLocation
import Foundation
import GRDB

/// Between rows, fields and records.
struct RowMapping: Sendable {
    let catalog: TableCatalog
    /// A mistake that a test put in; it goes where rows go.
    var defect: StoreDefect?

    // MARK: Rows

    /// The fields of a row of ``RowSQL/selectWhere``, whose columns are in the table's order.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - table: Its table.
    ///   - isWanted: Whether a field is asked for; to look at an asset takes reading all of it.
    /// - Returns: The values by field.
    /// - Throws: ``UnmappableValue`` for a value that is not of its column's form.
    func fields(
        _ row: Row,
        _ table: TableSchema,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        var fields: [String: StoreValue] = [:]
        fields.reserveCapacity(table.columns.count)
        for (place, column) in table.columns.enumerated() where isWanted(column.field) {
            fields[column.field] = try value(row[place], column)
        }
        return fields
    }

    /// The field of a column's value.
    func value(_ value: DatabaseValue, _ column: TableColumn) throws -> StoreValue {
        guard let name = column.target, let target = catalog[name] else {
            return try StoreValue(value, column)
        }
        switch value.storage {
        case .null: return .null
        case .int64(let number):
            return .reference(try RowKey(table: name, text: String(number)).recordName(target))
        case .string(let text):
            return .reference(try RowKey(table: name, text: text).recordName(target))
        case .blob(let data):
            return .reference(
                try RowKey(table: name, text: Hexadecimal.text(data)).recordName(target)
            )
        case .double: throw UnmappableValue(column, found: "\(value)")
        }
    }

    /// The column's value of a field.
    func databaseValue(_ value: StoreValue, _ column: TableColumn) throws -> DatabaseValue {
        guard let name = column.target, let target = catalog[name] else {
            return try value.databaseValue(for: column)
        }
        guard case .reference(let recordName) = value else {
            if value.isNull { return .null }
            throw UnmappableValue(column, found: "the field's value \(value)")
        }
        guard let key = RowKey(recordName: recordName, target), let values = key.values(target)
        else { throw UnmappableValue(column, found: "the reference to '\(recordName)'") }
        return values[0]
    }

    /// The values that insert a row of fields, in the order of ``RowSQL/insert``; nil where a column
    /// is to take its default, or more must be known or said.
    func insertion(
        of fields: [String: StoreValue],
        _ key: RowKey,
        _ table: TableSchema
    ) -> StatementArguments? {
        guard table.assetColumns.isEmpty, let keys = key.values(table) else { return nil }
        var values: [DatabaseValue] = []
        values.reserveCapacity(table.columns.count)
        for column in table.columns where !column.isKey {
            let field = fields[column.field] ?? .null
            if field.isNull, column.isNotNull || column.hasDefault { return nil }
            guard let value = try? databaseValue(field, column) else { return nil }
            values.append(value)
        }
        values += keys
        return StatementArguments(values: values)
    }

    // MARK: Records

    /// The fields of a record: those of the table's columns in their forms, others as they are.
    func fields(_ record: CKRecord, _ table: TableSchema?) throws -> [String: StoreValue] {
        let names = record.allKeys()
        var fields: [String: StoreValue] = [:]
        fields.reserveCapacity(names.count)
        for name in names {
            let column = table?.byField[name]
            guard column?.isEncrypted != true else { continue }
            fields[name] = try Self.value(record, name, column)
        }
        for name in record.encryptedValues.allKeys() {
            if let column = table?.byField[name], column.isEncrypted {
                fields[name] = try Self.value(record.encryptedValues, name, column)
            } else {
                fields[Self.encryptedPrefix + name] =
                    try Self.value(record.encryptedValues, name, nil)
            }
        }
        if defect == .dropsUnknownFields, let table {
            return fields.filter { table.byField[$0.key] != nil || $0.key == RecordStamp.field }
        }
        return fields
    }

    /// What marks a field that is encrypted and belongs to no column of this version.
    static let encryptedPrefix = "!"

    private static func value(
        _ record: some CKRecordKeyValueSetting,
        _ name: String,
        _ column: TableColumn?
    ) throws -> StoreValue {
        guard let object = record.object(forKey: name) else { return .null }
        let value = try value(object, name)
        guard let column else { return value }
        switch (column.form, value) {
        case (.real, .integer(let number)): return .real(Double(number))
        case (.integer, .real(let number)), (.boolean, .real(let number)):
            guard let whole = Int64(exactly: number) else {
                throw UnmappableValue(column, found: "the field's value \(number)")
            }
            return .integer(whole)
        default: return value
        }
    }

    private static func value(_ object: Any, _ name: String) throws -> StoreValue {
        // The casts below look for bridges before they fail, which takes long for an object.
        if type(of: object) is AnyClass, let number = object as? NSNumber { return value(number) }
        switch object {
        case let text as String: return .text(text)
        case let date as Date:
            return .date(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
        case let data as Data: return .bytes(data)
        case let reference as CKRecord.Reference: return .reference(reference.recordID.recordName)
        case let asset as CKAsset:
            guard let file = asset.place,
                let data = try? Data(contentsOf: file, options: .mappedIfSafe)
            else {
                throw UnreadableAsset(description: "the asset of the field '\(name)' has no file")
            }
            return .asset(AssetDigest(data))
        case let location as CLLocation:
            return .location(
                latitude: location.coordinate.latitude,
                longitude: location.coordinate.longitude
            )
        case let number as NSNumber: return value(number)
        case let values as [Any]: return .list(try values.map { try value($0, name) })
        default:
            throw UnreadableAsset(
                description: "the field '\(name)' holds a \(type(of: object)), which no field is"
            )
        }
    }

    private static func value(_ number: NSNumber) -> StoreValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }

    /// A field of a record that the store cannot read.
    struct UnreadableAsset: Error, CustomStringConvertible {
        var description: String
    }
}
