public import CloudKit
import Foundation
import GRDB

extension CloudStore {
    /// Returns a row's record as the server last had it, without assets.
    ///
    /// Values that record and row agree on are stored once, so fields whose columns have unsent
    /// edits are missing. Fields of rows that others share, and fields merged by a counter, a set
    /// or a custom rule, are always present.
    ///
    /// - Parameters:
    ///   - key: The row's key: the value as text, bytes in hexadecimal, several columns as a JSON
    ///     array.
    ///   - table: The table's name.
    /// - Returns: The record.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced or a row that was never sent;
    ///   an error of the database.
    public func record(of key: String, in table: String) async throws -> CKRecord {
        let schema = try schema(table)
        let id = try await recordID(of: key, in: table)
        let (known, row) = try await file.read { [mapping = file.mapping] database in
            let rows = RowStore(database: database, mapping: mapping)
            return (
                try KnownRecord.fetch(database, name: id.recordName),
                try rows.row(RowKey(table: table, text: key), schema)
                    .map { try mapping.fields($0, schema) }
            )
        }
        guard let known, let record = known.archived(in: id.zoneID) else {
            try await checkExists(key, in: table)
            throw CloudStoreError(
                .neverSent,
                "The row '\(key)' of the table '\(table)' was never sent; sync first"
            )
        }
        let fields = try known.baseFields(like: row ?? [:]).known
        if let format = schema.format {
            file.mapping.write(fields, to: record, schema, as: format) { _, _ in nil }
            return record
        }
        file.mapping.write(fields.filter { schema.byField[$0.key] != nil }, to: record, schema)
        file.mapping.write(fields.filter { schema.byField[$0.key] == nil }, to: record, nil)
        file.mapping.writeForms(fields, over: [:], to: record, schema)
        return record
    }

    /// Returns the ID of a row's record, whether or not the row was sent.
    ///
    /// - Parameters:
    ///   - key: The row's key.
    ///   - table: The table's name.
    /// - Returns: The record's ID.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced or a key that is too long; an
    ///   error of the database.
    public func recordID(of key: String, in table: String) async throws -> CKRecord.ID {
        let rowKey = RowKey(table: table, text: key)
        let name = try rowKey.recordName(schema(table))
        let zone = try await file.read { [file] in try file.zone($0, of: rowKey) }
        return CKRecord.ID(recordName: name, zoneID: file.id(zone))
    }

    /// Returns a record's row; nil when no synced table holds the record, or when its name is a key
    /// alone and unknown here.
    ///
    /// - Parameter recordID: The record's ID.
    /// - Returns: The table's name and the row's key.
    public func row(behind recordID: CKRecord.ID) -> (table: String, key: String)? {
        guard file.zone(recordID.zoneID) != nil else { return nil }
        let name = recordID.recordName
        for table in file.catalog.tables where !table.isNamedByKey {
            if let key = RowKey(recordName: name, table) { return (table.name, key.text) }
        }
        // A name that is only a key does not identify the table.
        let tables = file.catalog.tables.filter(\.isNamedByKey)
        guard tables.count != 1 else { return (tables[0].name, name) }
        // A database that cannot be read reports it with the next sync.
        let known = try? file.writer.read { try KnownRecord.fetch($0, name: name)?.key }
        return known.map { ($0.table, $0.text) }
    }

    /// Downloads assets into their columns, for the given rows or for all rows that lack them.
    ///
    /// - Parameters:
    ///   - table: The table's name.
    ///   - keys: The rows' keys; nil for all rows.
    /// - Returns: The rows that received assets.
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
        for (zone, names) in names.sorted(by: { $0.key < $1.key }) {
            changes += try await file.download(
                names,
                zone,
                columns,
                schema,
                from: database(of: file.id(zone)),
                limit: configuration.batchLimit
            )
        }
        publish(changes)
        return changes
    }

    private func missingAssets(
        _ table: TableSchema,
        _ columns: [TableColumn],
        _ keys: [String]?
    ) async throws -> [StoreZone: [String]] {
        let names = try keys?.map { try RowKey(table: table.name, text: $0).recordName(table) }
        return try await file.read { [mapping = file.mapping] database in
            let rows = RowStore(database: database, mapping: mapping)
            let records =
                try names?.compactMap { try KnownRecord.fetch(database, name: $0) }
                ?? KnownRecord.fetchAll(
                    database,
                    where: "tbl = \(Words.sql("?")) AND system IS NOT NULL",
                    arguments: [table.name]
                )
            let missing = try records.filter { known in
                guard let key = known.key, let row = try rows.row(key, table) else { return false }
                let base = try known.baseFields { field in columns.contains { $0.field == field } }
                return columns.contains { column in
                    row[column.name]?.isNull == true
                        && !(base[column.field] ?? .null).isNull
                }
            }
            return Dictionary(grouping: missing, by: \.zone).mapValues { $0.map(\.name) }
        }
    }
}
