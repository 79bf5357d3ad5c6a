import Foundation
import GRDB

/// The unsent edits of columns that a migration drops, kept for the journal.
///
/// A migration removes the triggers of a table before it drops a column, while the values are there; which columns are gone
/// shows when the next store is created.
struct DroppedEdits {
    private static let table = "grdb_cloudkit_dropped"

    let database: Database

    /// Keeps the unsent values of a table's rows, before a migration changes it.
    func keep(_ table: String) throws {
        guard try database.tableExists("grdb_cloudkit_outbox"), try database.tableExists(table),
            let schema = try schema(of: table)
        else { return }
        let entries = try OutboxEntry.fetchAll(
            database,
            where: "tbl = ? AND deleted = 0",
            arguments: [table]
        )
        guard !entries.isEmpty else { return }
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(Self.table) (
                    tbl TEXT NOT NULL, key TEXT NOT NULL, fields BLOB NOT NULL, PRIMARY KEY (tbl, key)
                ) WITHOUT ROWID
                """
        )
        let mapping = RowMapping(catalog: TableCatalog([schema]))
        let rows = RowStore(database: database, mapping: mapping)
        for entry in entries {
            guard let row = try rows.row(entry.key, schema) else { continue }
            let fields = try mapping.fields(row, schema) { entry.changed[$0] != nil }
            // The journal keeps no assets.
            let kept = fields.filter { schema.byField[$0.key].map { $0.form != .asset } ?? false }
            try database.execute(
                sql: "INSERT OR REPLACE INTO \(Self.table) VALUES (?, ?, ?)",
                arguments: [table, entry.key.text, FieldCoding.data(kept)]
            )
        }
    }

    /// Returns the table as the last store had it, as far as the migration has not changed it yet; nil for one that no
    /// store has synced.
    private func schema(of table: String) throws -> TableSchema? {
        let fingerprint = try String.fetchOne(
            database,
            sql: "SELECT fingerprint FROM grdb_cloudkit_table WHERE name = ?",
            arguments: [table]
        )
        guard let fingerprint else { return nil }
        let known = Set(fingerprint.split(separator: " ").map(String.init))
        var columns: [TableColumn] = []
        var key: [(place: Int, column: TableColumn)] = []
        for row in try Row.fetchAll(database, sql: "PRAGMA table_xinfo(\(table.quoted))") {
            let name: String = row["name"]
            guard let (field, form) = Self.column(name, known) else { continue }
            let column = TableColumn(
                name: name,
                field: field,
                form: form,
                affinity: ColumnAffinity(declaredType: row["type"] ?? ""),
                isKey: row["pk"] as Int > 0
            )
            columns.append(column)
            if column.isKey { key.append((row["pk"], column)) }
        }
        guard !key.isEmpty else { return nil }
        return TableSchema(
            declaration: .table(table),
            columns: columns,
            keyColumns: key.sorted { $0.place < $1.place }.map(\.column)
        )
    }

    private static let forms: [ColumnForm] = [
        .integer, .boolean, .real, .text, .bytes, .date, .secondsSince1970, .uuid, .decimal, .list,
        .location, .asset,
    ]

    /// Returns the field and the form of a column in a fingerprint.
    private static func column(_ name: String, _ known: Set<String>) -> (String, ColumnForm)? {
        for form in forms {
            let end = ":\(form)"
            let part = known.first { $0.hasPrefix(name + "=") && $0.hasSuffix(end) }
            if let part {
                return (String(part.dropFirst(name.count + 1).dropLast(end.count)), form)
            }
        }
        return nil
    }

    /// Moves the values of columns that are gone into the journal, and forgets the others.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - former: Its former name.
    ///   - catalog: All tables.
    /// - Throws: An error of the database.
    func note(_ table: TableSchema, formerly former: String, _ catalog: TableCatalog) throws {
        guard try database.tableExists(Self.table) else { return }
        let kept = try Row.fetchAll(
            database,
            sql: "SELECT key, fields FROM \(Self.table) WHERE tbl = ?",
            arguments: [former]
        )
        let clock = try StoreClock(database)
        for row in kept {
            let key = RowKey(table: table.name, text: row[0])
            guard var entry = try OutboxEntry.fetch(database, key), !entry.isDeleted else {
                continue
            }
            let lost = try FieldCoding.fields(row[1]).filter {
                table.byField[$0.key] == nil && entry.changed[$0.key] != nil
            }
            guard !lost.isEmpty else { continue }
            let zone = try Place.fetch(database, key)?.zone ?? .own
            try Journal(database, catalog, zone: zone).add(
                [.init(fields: lost, side: .local, rule: JournalEntry.dropped)],
                key,
                kept: nil,
                at: clock.edit(entry.version)
            )
            for field in lost.keys { entry.changed[field] = nil }
            try entry.save(database)
        }
        try database.execute(
            sql: "DELETE FROM \(Self.table) WHERE tbl = ?",
            arguments: [former]
        )
    }
}
