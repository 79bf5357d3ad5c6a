public import CloudKit
import Foundation
import GRDB

extension CloudStore {
    /// The record behind a row, as the server had it last, without assets.
    ///
    /// - Parameters:
    ///   - key: The row's key: the value as text, bytes in hexadecimal, several columns as a JSON
    ///     array.
    ///   - table: The table's name.
    /// - Returns: The record.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced, and for a row that was never
    ///   sent; an error of the database.
    public func record(of key: String, in table: String) async throws -> CKRecord {
        let schema = try schema(table)
        let id = try recordID(of: key, in: table)
        let known = try await file.writer.read { database in
            try KnownRecord.fetch(database, name: id.recordName)
        }
        guard let known, let record = known.system.flatMap(RecordArchive.record) else {
            throw CloudStoreError(
                .neverSent,
                "The row '\(key)' of the table '\(table)' was never sent; sync first"
            )
        }
        let fields = try known.baseFields()
        file.mapping.write(fields.filter { schema.byField[$0.key] != nil }, to: record, schema)
        file.mapping.write(fields.filter { schema.byField[$0.key] == nil }, to: record, nil)
        return record
    }

    /// The identity of the record behind a row, whether it was sent or not.
    ///
    /// - Parameters:
    ///   - key: The row's key.
    ///   - table: The table's name.
    /// - Returns: The record's ID.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced, or a key that is too long.
    public func recordID(of key: String, in table: String) throws -> CKRecord.ID {
        let name = try RowKey(table: table, text: key).recordName(schema(table))
        return CKRecord.ID(recordName: name, zoneID: file.zoneID)
    }

    /// The row behind a record; nil when the record is of no synced table.
    ///
    /// - Parameter recordID: The record's ID.
    /// - Returns: The table's name and the row's key.
    public func row(behind recordID: CKRecord.ID) -> (table: String, key: String)? {
        guard recordID.zoneID == file.zoneID else { return nil }
        for table in file.catalog.tables {
            if let key = RowKey(recordName: recordID.recordName, table) {
                return (table.name, key.text)
            }
        }
        return nil
    }

    /// Downloads assets into their columns: those of given rows, or all that are missing.
    ///
    /// - Parameters:
    ///   - table: The table's name.
    ///   - keys: The rows' keys; nil for all rows.
    /// - Returns: The rows that have more than before.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced, a `CKError`, or an error of
    ///   the database.
    @discardableResult
    public func downloadAssets(in table: String, keys: [String]? = nil) async throws -> [RowChange]
    {
        let schema = try schema(table)
        let columns = schema.columns.filter { $0.form == .asset }
        guard !columns.isEmpty else { return [] }
        let names = try await missingAssets(schema, columns, keys)
        var changes: [RowChange] = []
        for start in stride(from: 0, to: names.count, by: configuration.batchLimit) {
            let part = names[start..<min(start + configuration.batchLimit, names.count)]
            let ids = part.map { CKRecord.ID(recordName: $0, zoneID: file.zoneID) }
            let found = try await database.records(for: ids, desiredKeys: columns.map(\.field))
            let mapping = file.mapping
            let records = try ids.compactMap { id -> RemoteRecord? in
                switch found[id] {
                case .success(let record): return RemoteRecord(record, mapping)
                case .failure(let error as CKError) where error.code == .unknownItem: return nil
                case .failure(let error): throw error
                case nil: return nil
                }
            }
            changes += try await file.apply { database, mapping in
                try Self.fill(records, schema, RowStore(database: database, mapping: mapping))
            }
        }
        publish(changes)
        return changes
    }

    private func missingAssets(
        _ table: TableSchema,
        _ columns: [TableColumn],
        _ keys: [String]?
    ) async throws -> [String] {
        let names = try keys?.map { try RowKey(table: table.name, text: $0).recordName(table) }
        return try await file.writer.read { [mapping = file.mapping] database in
            let rows = RowStore(database: database, mapping: mapping)
            let records =
                try names?.compactMap { try KnownRecord.fetch(database, name: $0) }
                ?? KnownRecord.fetchAll(
                    database,
                    where: "tbl = ? AND system IS NOT NULL",
                    arguments: [table.name]
                )
            return try records.filter { known in
                guard let key = known.key, let row = try rows.row(key, table) else { return false }
                let base = try known.baseFields()
                return columns.contains { column in
                    (row[column.name] as DatabaseValue).isNull
                        && !(base[column.field] ?? .null).isNull
                }
            }.map(\.name)
        }
    }

    /// Writes downloaded bytes where the column is still empty and the asset still the one that the
    /// row had.
    private static func fill(
        _ records: [RemoteRecord],
        _ table: TableSchema,
        _ rows: RowStore
    ) throws -> [RowChange] {
        var changes: [RowChange] = []
        for record in records {
            guard let known = try KnownRecord.fetch(rows.database, name: record.name),
                let key = known.key, let row = try rows.row(key, table)
            else { continue }
            let (base, fields) = (try known.baseFields(), try record.fields.get())
            let entry = try OutboxEntry.fetch(rows.database, key)
            var hasChanged = false
            for (field, file) in record.files.sorted(by: { $0.key < $1.key }) {
                guard let column = table.byField[field], entry?.changed[field] == nil,
                    (row[column.name] as DatabaseValue).isNull, base[field] == fields[field]
                else { continue }
                try rows.database.execute(
                    sql: "UPDATE \(table.name.quoted) SET \(column.name.quoted) = ? WHERE "
                        + table.sql.condition,
                    arguments: StatementArguments(
                        [try Data(contentsOf: file).databaseValue] + (key.values(table) ?? [])
                    )
                )
                hasChanged = true
            }
            if hasChanged { changes.append(RowChange(.updated, key)) }
        }
        return changes
    }
}
