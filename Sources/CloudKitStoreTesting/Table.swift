import CloudKitStore
import GRDB

/// A table of the app, as random edits and comparisons need it.
struct Table: Sendable {
    struct Column: Sendable {
        var name: String
        var form: ColumnForm
        /// `true` for dates without a time.
        var isDay: Bool
        var isRequired: Bool
        /// The place in the primary key, from 1; 0 for other columns.
        var keyPlace: Int
        var isUnique: Bool
    }

    struct ForeignKey: Sendable {
        var columns: [String]
        var target: String
        var targetColumns: [String]
    }

    let name: String
    /// The columns that can be written.
    let columns: [Column]
    let foreignKeys: [ForeignKey]
    /// The columns whose values all devices must share.
    let compared: [String]

    var key: [String] { columns.filter { $0.keyPlace > 0 }.map(\.name) }

    /// Reads a synced table's definition.
    init(_ declaration: SyncedTable, in database: Database) throws {
        name = declaration.name
        let info = try Row.fetchAll(
            database,
            sql: "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?) WHERE hidden = 0",
            arguments: [name]
        )
        let unique = try database.indexes(on: name).filter { $0.isUnique && $0.columns.count == 1 }
            .flatMap(\.columns)
        columns = info.map { row in
            let (name, type, keyPlace): (String, String, Int) = (row[0], row[1], row[3])
            return Column(
                name: name,
                form: declaration.forms[name] ?? ColumnForm(declaredType: type) ?? .text,
                isDay: type.uppercased() == "DATE",
                isRequired: row[2] || keyPlace > 0,
                keyPlace: keyPlace,
                isUnique: unique.contains(name)
            )
        }
        foreignKeys = try database.foreignKeys(on: name).map {
            ForeignKey(
                columns: $0.originColumns,
                target: $0.destinationTable,
                targetColumns: $0.destinationColumns
            )
        }
        let onDemand = declaration.assets.filter { $0.value == .onDemand }.keys
        compared = columns.map(\.name)
            .filter { !declaration.localOnly.contains($0) && !onDemand.contains($0) }
    }

    /// The values of all rows as SQL writes them, by key.
    func contents(_ database: Database) throws -> [String: [String: String]] {
        let key = key.map { "quote(\($0.quotedDatabaseIdentifier))" }.joined(
            separator: " || ', ' || "
        )
        let values = compared.map { "quote(\($0.quotedDatabaseIdentifier))" }.joined(
            separator: ", "
        )
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT \(key), \(values) FROM \(name.quotedDatabaseIdentifier)"
        )
        return Dictionary(
            rows.map { row in
                let values = compared.enumerated().map { ($1, row[$0 + 1] as String? ?? "NULL") }
                return (row[0] ?? "NULL", Dictionary(values) { $1 })
            }
        ) { $1 }
    }
}
