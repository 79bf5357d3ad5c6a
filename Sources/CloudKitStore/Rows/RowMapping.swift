import CloudKit
import CoreLocation
import Foundation
import GRDB

/// The conversion between rows, fields and records.
struct RowMapping: Sendable {
    let catalog: TableCatalog

    // MARK: Rows

    /// Returns the fields of a row of ``RowSQL/selectWhere``, whose columns are in the table's order.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - table: Its table.
    ///   - isWanted: A closure that returns whether a field is requested; inspecting an asset
    ///     requires reading all of it.
    /// - Returns: The values by field.
    /// - Throws: A ``CloudStoreError`` for a reference whose record name is too long.
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

    /// Returns the field value of a column's value.
    func value(_ value: DatabaseValue, _ column: TableColumn) throws -> StoreValue {
        guard let name = column.target, let target = catalog[name] else {
            let found = StoreValue(value, column)
            return column.notation?.value(found) ?? found
        }
        if value.isNull { return .null }
        guard let key = RowKey(values: [value], target), let usual = key.values(target)?.first
        else {
            return .written(.null, as: WrittenForm.text(value, plain: .null))
        }
        let reference = StoreValue.reference(try key.recordName(target))
        return .written(reference, value, column, usually: usual)
    }

    /// Returns a value as the row will have it, which another client's record may write differently.
    private func canonical(_ value: StoreValue, _ column: TableColumn) -> StoreValue {
        switch (column.form, value) {
        case (.integer, _), (.boolean, _), (.real, _), (.bytes, _), (.asset, _), (.date, _):
            return value
        case (.text, .text(let text)) where !column.affinity.keepsNumbers && !text.hasNUL:
            return value
        default: break
        }
        // A value that the column cannot hold stays as it is, and is refused on insertion.
        guard column.target == nil, let written = try? value.databaseValue(for: column) else {
            return value
        }
        return StoreValue(column.affinity.stored(written), column)
    }

    /// Returns the column's value of a field value.
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

    /// Returns the values that insert a row of fields, in the order of ``RowSQL/insert``; nil if a
    /// column has to take its default, or more than these values is needed.
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
            // The slower way reports which value the column cannot hold.
            guard let value = try? databaseValue(field, column), value.textBytes == nil else {
                return nil
            }
            values.append(value)
        }
        values += keys
        return StatementArguments(values: values)
    }

    // MARK: Records

    /// Returns the fields of a record: those of the table's columns in their forms, others unchanged.
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
        // Values that no field holds.
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
        if let stale = Self.stale(forms, fields, table) {
            fields[RecordForms.field] = .text(stale)
        }
        if let table, let format = table.format {
            try format.read(&fields, table) { field, isText in
                try Self.content(of: record, field, isText: isText)
            }
            try Self.check(fields, table)
        }
        return fields
    }

    /// Checks the text of identifiers and of decimals, which their columns would take whatever it is.
    private static func check(_ fields: [String: StoreValue], _ table: TableSchema) throws {
        for column in table.columns
        where column.notation == .identifier || column.notation == .decimal {
            guard let value = fields[column.field], let reason = column.notation?.problem(of: value)
            else { continue }
            throw UnreadableAsset(
                description:
                    "what the field '\(column.field)' holds \(reason); correct it in the app"
            )
        }
    }

    /// Returns the forms of a record that another client's values have replaced; nil for none.
    ///
    /// The client leaves them beside its values. They are remembered under the name of the plain forms' field, those of
    /// encrypted fields too, because they would count again once it clears the values: no form differs from that of a value
    /// which no field holds.
    private static func stale(
        _ forms: (plain: [String: String], encrypted: [String: String]),
        _ fields: [String: StoreValue],
        _ table: TableSchema?
    ) -> String? {
        guard let table, table.format == nil else { return nil }
        var stale = RecordForms("")
        for (forms, isEncrypted) in [(forms.plain, false), (forms.encrypted, true)] {
            for (name, form) in forms.sorted(by: { $0.key < $1.key }) {
                guard table.byField[name]?.isEncrypted == isEncrypted, form != WrittenForm.null,
                    let value = fields[name], !value.isNull
                else { continue }
                if case .written = value { continue }
                stale.forms.append((name, form))
            }
        }
        return stale.text
    }

    /// Returns a record's fields without the values whose forms were stale in its previous version.
    ///
    /// - Parameters:
    ///   - before: The stale forms of the previous version.
    ///   - fields: The fields.
    /// - Returns: The fields; nil if they have no such value.
    static func forgetting(
        _ before: RecordForms,
        in fields: [String: StoreValue]
    ) -> [String: StoreValue]? {
        var fields = fields
        var found = RecordForms("")
        for (name, form) in before.forms where fields[name] == .written(.null, as: form) {
            fields[name] = nil
            found.forms.append((name, form))
        }
        guard let text = found.text else { return nil }
        // Until the record is saved without them.
        fields[RecordForms.field] = .text(text)
        return fields
    }

    /// Returns the content of an asset that holds a value too large for the record.
    private static func content(
        of record: CKRecord,
        _ field: String,
        isText: Bool
    ) throws -> StoreValue {
        let asset = record.object(forKey: field) as? CKAsset
        // A file that cannot be read is the error below.
        let data = asset?.place.flatMap { try? Data(contentsOf: $0) }
        guard let data else {
            throw UnreadableAsset(description: "the asset of the field '\(field)' has no file")
        }
        guard isText else { return .bytes(data) }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw UnreadableAsset(description: "the asset of the field '\(field)' is no text")
        }
        return .text(text)
    }

    /// The prefix of an encrypted field that belongs to no column of this version.
    static let encryptedPrefix = "!"

    /// Returns the written forms of a record's values, by field.
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

    /// Returns a record's field value, as its form specifies or in the column's usual form.
    private func current(
        _ value: StoreValue,
        _ form: String?,
        _ column: TableColumn?
    ) -> StoreValue {
        guard let column else { return form.map { .written(value, as: $0) } ?? value }
        guard let form else { return canonical(value, column) }
        return current(.written(value, as: form), column)
    }

    /// Returns fields converted for a table whose columns were unknown when they arrived.
    func current(_ fields: [String: StoreValue], _ table: TableSchema) -> [String: StoreValue] {
        var converted = fields.reduce(into: fields) { fields, field in
            guard let column = table.byField[field.key], !field.value.isUnknown else { return }
            fields[field.key] =
                if case .written = field.value {
                    current(field.value, column)
                } else {
                    canonical(field.value, column)
                }
        }
        // The contents of assets are not kept, so these arrive again.
        table.format?.read(&converted, table) { _, _ in .unknown }
        return converted
    }

    /// Returns a written value if the field still matches its form: a client without forms may have
    /// changed it since.
    private func current(_ value: StoreValue, _ column: TableColumn) -> StoreValue {
        guard case .written(let field, let form) = value else { return value }
        if form == WrittenForm.null { return field.isNull ? field : canonical(field, column) }
        if case .asset = field { return form == WrittenForm.asText ? value : field }
        guard let written = WrittenForm.value(form, plain: field) else {
            return canonical(field, column)
        }
        if column.form == .asset { return field.isNull ? value : field }
        // A written form that cannot be read counts as absent.
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
        // The casts below look for bridges before they fail, which is slow for an object.
        if type(of: object) is AnyClass, let number = object as? NSNumber { return value(number) }
        switch object {
        case let text as String: return .text(text)
        case let date as Date:
            let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
            // No app has dates that are a hundred million years away.
            return .date(milliseconds: Int64(max(min(milliseconds, 1e18), -1e18)))
        case let data as Data: return .bytes(data)
        case let reference as CKRecord.Reference: return .reference(reference.recordID.recordName)
        case let asset as CKAsset:
            guard let file = asset.place,
                // A file that cannot be read is the error below.
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
                description: "the field '\(name)' holds a \(type(of: object)), which no field holds"
            )
        }
    }

    private static func value(_ number: NSNumber) -> StoreValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }

    /// An error for a record's field that the store cannot read.
    struct UnreadableAsset: Error, CustomStringConvertible {
        var description: String
    }
}

extension CKAsset {
    /// The file's URL, for a caller that reads it immediately and does not pass it on.
    var place: URL? {
        #if canImport(Darwin)
        fileURL
        #else
        unsharedFileURL
        #endif
    }
}
