import CloudKit
import Foundation
import GRDB

extension StoreFile {
    /// Downloads the assets of rows that had to wait for others and arrived without them.
    func fillLacking(
        _ isIncluded: (_ zone: StoreZone) -> Bool,
        from source: CKDatabase,
        limit: Int
    ) async throws -> [RowChange] {
        let lacking = try await read { database in
            try KnownRecord.fetchAll(database, where: "lacks <> 0")
        }
        guard !lacking.isEmpty else { return [] }
        var changes: [RowChange] = []
        for (zone, records) in Dictionary(grouping: lacking, by: \.zone) where isIncluded(zone) {
            for (table, records) in Dictionary(grouping: records, by: { $0.key?.table ?? "" }) {
                guard let schema = catalog[table] else { continue }
                let names = records.map(\.name).sorted()
                changes += try await download(
                    names,
                    zone,
                    schema.columns.filter { $0.download == .withRow },
                    schema,
                    from: source,
                    limit: limit
                )
                try await writer.write { database in
                    for name in names {
                        try database.execute(
                            sql: "UPDATE grdb_cloudkit_record SET lacks = 0 WHERE name = ?",
                            arguments: [StoredName.value(name)]
                        )
                    }
                }
            }
        }
        return changes
    }

    /// Downloads the assets of records into their rows' columns where these are empty.
    func download(
        _ names: [String],
        _ zone: StoreZone,
        _ columns: [TableColumn],
        _ schema: TableSchema,
        from source: CKDatabase,
        limit: Int
    ) async throws -> [RowChange] {
        let fields = columns.map(\.field)
        var changes: [RowChange] = []
        for start in stride(from: 0, to: names.count, by: limit) {
            let part = names[start..<min(start + limit, names.count)]
            let ids = part.map { CKRecord.ID(recordName: $0, zoneID: id(zone)) }
            let found = try await source.records(
                for: ids,
                desiredKeys: fields + [RecordForms.field]
            )
            let records = try ids.compactMap { id -> RemoteRecord? in
                switch found[id] {
                case .success(let record): return RemoteRecord(record, mapping)
                // The column stays empty: the fetch brings the deletion, or another file.
                case .failure(let error as CKError)
                where [.unknownItem, .assetNotAvailable].contains(error.code):
                    return nil
                case .failure(let error): throw error
                case nil: return nil
                }
            }
            changes += try await apply { database, mapping in
                try Self.fill(records, schema, RowStore(database: database, mapping: mapping))
            }
        }
        return changes
    }

    /// Writes downloaded bytes if the column is still empty and the row's asset has not changed.
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
            // Assets are stored unchanged.
            let (base, fields) = (try known.baseFields(), try record.fields.get())
            let entry = try OutboxEntry.fetch(rows.database, key)
            var hasChanged = false
            for (field, file) in record.files.sorted(by: { $0.key < $1.key }) {
                guard let column = table.byField[field], entry?.changed[field] == nil,
                    row[column.name]?.isNull == true, base[field] == fields[field],
                    let asset = base[field]
                else { continue }
                let value = RowStore.asset(try Data(contentsOf: file), asset)
                try rows.database.execute(
                    sql:
                        "UPDATE \(table.name.quoted) SET \(column.name.quoted) = \(value.mark) WHERE "
                        + table.sql.condition,
                    arguments: StatementArguments(
                        [value.bound] + (key.values(table) ?? [])
                    )
                )
                hasChanged = true
            }
            if hasChanged { changes.append(RowChange(.updated, key)) }
        }
        return changes
    }
}
