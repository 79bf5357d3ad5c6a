import CloudKit
import CoreLocation
import Foundation
import GRDB

/// Between rows, fields and records.
struct RowMapping: Sendable {
    let catalog: TableCatalog

    // MARK: Rows

    /// The fields of a row of ``RowSQL/selectWhere``, whose columns are in the table's order.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - table: Its table.
    ///   - isWanted: Whether a field is asked for; to look at an asset takes reading all of it.
    /// - Returns: The values by field.
    /// - Throws: A ``CloudStoreError`` for a reference that makes too long a name.
    func fields(
        _ row: StoredRow,
        _ table: TableSchema,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        var fields: [String: StoreValue] = [:]
        fields.reserveCapacity(table.columns.count)
        for (place, column) in table.columns.enumerated() where isWanted(column.field) {
            guard !(column.isKey && table.isNamedByKey) else { continue }
            fields[column.field] = try value(row.values[place], column)
        }
        return fields
    }

    /// The field of a column's value.
    func value(_ value: DatabaseValue, _ column: TableColumn) throws -> StoreValue {
        guard let name = column.target, let target = catalog[name] else {
            return StoreValue(value, column)
        }
        if value.isNull { return .null }
        guard let key = RowKey(values: [value], target), let usual = key.values(target)?.first
        else {
            return .written(.null, as: WrittenForm.text(value, plain: .null))
        }
        let reference = StoreValue.reference(try key.recordName(target))
        return .written(reference, value, column, usually: usual)
    }

    /// A field as the row will have it, which the record of another client may spell otherwise.
    private func canonical(_ value: StoreValue, _ column: TableColumn) -> StoreValue {
        switch (column.form, value) {
        case (.integer, _), (.boolean, _), (.real, _), (.bytes, _), (.asset, _), (.date, _):
            return value
        case (.text, .text(let text)) where !column.affinity.keepsNumbers && !text.hasNUL:
            return value
        default: break
        }
        guard column.target == nil, let written = try? value.databaseValue(for: column) else {
            return value
        }
        return StoreValue(column.affinity.stored(written), column)
    }

    /// The column's value of a field.
    func databaseValue(_ value: StoreValue, _ column: TableColumn) throws -> DatabaseValue {
        guard let name = column.target, let target = catalog[name] else {
            return try value.databaseValue(for: column)
        }
        guard case .reference(let recordName) = value else {
            if value.isNull { return .null }
            if case .written = value { return try value.databaseValue(for: column) }
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
            guard let value = try? databaseValue(field, column), value.textBytes == nil else {
                return nil
            }
            values.append(value)
        }
        values += keys
        return StatementArguments(values: values)
    }

    // MARK: Records

    /// The fields of a record: those of the table's columns in their forms, others as they are.
    func fields(_ record: CKRecord, _ table: TableSchema?) throws -> [String: StoreValue] {
        let names = record.allKeys()
        let forms = Self.forms(of: record)
        var fields: [String: StoreValue] = [:]
        fields.reserveCapacity(names.count)
        for name in names where name != RecordForms.field {
            let column = table?.byField[name]
            guard column?.isEncrypted != true else { continue }
            fields[name] = current(try Self.value(record, name, column), forms.plain[name], column)
        }
        for name in record.encryptedValues.allKeys() where name != RecordForms.encryptedField {
            let column = table?.byField[name]
            if let column, !column.isEncrypted { continue }
            let value = try Self.value(record.encryptedValues, name, column)
            let place = column == nil ? Self.encryptedPrefix + name : name
            fields[place] = current(value, forms.encrypted[name], column)
        }
        // What no field says at all.
        for (name, form) in forms.plain where fields[name] == nil {
            let column = table?.byField[name]
            if column?.isEncrypted != true { fields[name] = current(.null, form, column) }
        }
        for (name, form) in forms.encrypted {
            let column = table?.byField[name]
            let place = column == nil ? Self.encryptedPrefix + name : name
            if fields[place] == nil, column?.isEncrypted != false {
                fields[place] = current(.null, form, column)
            }
        }
        return fields
    }

    /// What marks a field that is encrypted and belongs to no column of this version.
    static let encryptedPrefix = "!"

    /// How the values of a record are written, by field.
    private static func forms(
        of record: CKRecord
    ) -> (plain: [String: String], encrypted: [String: String]) {
        func read(_ text: String?) -> [String: String] {
            guard let text else { return [:] }
            return Dictionary(RecordForms(text).forms.map { ($0.name, $0.form) }) { first, _ in
                first
            }
        }
        return (
            read(record[RecordForms.field]),
            read(record.encryptedValues[RecordForms.encryptedField])
        )
    }

    /// A field of a record: written as its form says, or as the column usually is.
    private func current(
        _ value: StoreValue,
        _ form: String?,
        _ column: TableColumn?
    ) -> StoreValue {
        guard let column else { return form.map { .written(value, as: $0) } ?? value }
        guard let form else { return canonical(value, column) }
        return current(.written(value, as: form), column)
    }

    /// Fields as a table has them whose columns were not known when they came.
    func current(_ fields: [String: StoreValue], _ table: TableSchema) -> [String: StoreValue] {
        fields.reduce(into: fields) { fields, field in
            guard let column = table.byField[field.key], !field.value.isUnknown else { return }
            fields[field.key] =
                if case .written = field.value {
                    current(field.value, column)
                } else {
                    canonical(field.value, column)
                }
        }
    }

    /// A written value, if the field is still what its form says: a client that knows of no forms
    /// may have changed it since.
    private func current(_ value: StoreValue, _ column: TableColumn) -> StoreValue {
        guard case .written(let field, let form) = value else { return value }
        if form == WrittenForm.null { return field.isNull ? field : canonical(field, column) }
        if case .asset = field { return form == WrittenForm.asText ? value : field }
        guard let written = WrittenForm.value(form, plain: field) else {
            return canonical(field, column)
        }
        if column.form == .asset { return field.isNull ? value : field }
        guard let found = try? self.value(written, column) else { return canonical(field, column) }
        switch found.plain {
        case .real(let number) where !number.isFinite && field.isNull: return found
        case field: return found
        default: return canonical(field, column)
        }
    }

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
            let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
            // Dates of a hundred million years are none of an app's.
            return .date(milliseconds: Int64(max(min(milliseconds, 1e18), -1e18)))
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
