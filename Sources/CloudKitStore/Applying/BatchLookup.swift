import GRDB

/// The file's state of a batch of records, read with a few statements instead of several for each.
///
/// Valid until a record of the batch is written.
struct BatchLookup {
    private let known: [String: KnownRecord]
    private let hasEdits: Bool
    private var rows: [String: [RowKey: StoredRow]] = [:]
    private let database: Database
    private let store: RowStore

    init(_ records: [RemoteRecord], _ store: RowStore) throws {
        self.store = store
        database = store.database
        known = try KnownRecord.fetch(database, names: records.map(\.name))
        // During a first sync the outbox is empty: one question replaces one for each record.
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_outbox)"
        )
        hasEdits = try Bool.fetchOne(statement) ?? true
        for (name, records) in Dictionary(grouping: records, by: { $0.table?.name }) {
            guard let table = name.flatMap({ store.mapping.catalog[$0] }) else { continue }
            let keys = Set(records.compactMap(\.key))
            rows[table.name] = try store.rows(Array(keys), table)
        }
    }

    /// Returns the file's state of a record.
    func known(_ name: String) -> KnownRecord? { known[name] }

    /// Returns the row's unsent changes.
    func edits(_ key: RowKey) throws -> OutboxEntry? {
        hasEdits ? try OutboxEntry.fetch(database, key) : nil
    }

    /// Returns the row of a key.
    func row(_ key: RowKey, _ table: TableSchema) throws -> StoredRow? {
        guard let rows = rows[table.name] else { return try store.row(key, table) }
        return rows[key]
    }
}
