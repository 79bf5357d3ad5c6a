import CloudKitStore
import GRDB

/// The app whose store is simulated, in two versions: the second has one more column and one more table.
///
/// Variants of schedules have their own apps.
enum SimulatedApp {
    static let plainSchema = """
        CREATE TABLE folder (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            parent TEXT REFERENCES folder (id) ON DELETE CASCADE
        );
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT,
            count INTEGER NOT NULL DEFAULT 0, low INTEGER, high INTEGER, tags TEXT,
            server TEXT, client TEXT, custom TEXT, photo BLOB, day DATE, amount REAL, data BLOB,
            mood TEXT DEFAULT 'calm', folder TEXT REFERENCES folder (id) ON DELETE SET NULL,
            flag BOOLEAN, price NUMERIC, rank INTEGER, secret TEXT, draft TEXT
        );
        CREATE TABLE mark (
            note TEXT NOT NULL REFERENCES note (id) ON DELETE CASCADE,
            place INTEGER NOT NULL, text TEXT NOT NULL DEFAULT '', PRIMARY KEY (note, place)
        );
        CREATE TABLE item (
            id UUID PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            folder TEXT REFERENCES folder (id) ON DELETE RESTRICT
        );
        """

    static let upgrade = """
        ALTER TABLE note ADD COLUMN extra TEXT;
        CREATE TABLE task (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '',
            note TEXT REFERENCES note (id) ON DELETE CASCADE
        );
        """

    static func plainTables(isNew: Bool) -> [SyncedTable] {
        let note = SyncedTable.table(
            "note",
            fieldRules: [
                "count": .counter, "tags": .set, "low": .minimum, "high": .maximum,
                "server": .server, "client": .client, "custom": .custom(longer),
            ],
            assets: ["photo": .withRow],
            encrypted: ["secret"],
            localOnly: ["draft"],
            forms: ["tags": .list]
        )
        let tables = [
            .table("folder"), note, .table("mark"), .table("item", deletion: .deletionWins),
        ]
        return isNew ? tables + [.table("task")] : tables
    }

    /// The app's custom rule: a text wins over no text; of two texts the one that sorts later wins.
    private static let longer: MergeRule.Decision = { conflict in
        guard case .text(let ours) = conflict.local else { return conflict.remote }
        guard case .text(let theirs) = conflict.remote else { return conflict.local }
        return ours < theirs ? conflict.remote : conflict.local
    }

    /// The columns of a table that both versions have, and those of the second version alone.
    typealias TableColumns = (table: String, key: String, columns: [String], added: [String])

    static let plainColumns: [TableColumns] = [
        ("folder", "id", ["name", "parent"], []),
        (
            "note", "id",
            [
                "title", "body", "count", "low", "high", "tags", "server", "client", "custom",
                "photo", "folder", "day", "amount", "data", "mood", "flag", "price", "rank",
                "secret",
            ], ["extra"]
        ),
        ("mark", "note || '/' || place", ["note", "text"], []),
        ("item", "hex(id)", ["name", "folder"], []),
    ]

    static let addedTable: TableColumns = ("task", "id", ["name", "note"], [])

    /// The columns that refer to other rows, with the table, and whether the row is deleted with the other.
    static let references: [String: (table: String, cascades: Bool)] = [
        "folder.parent": ("folder", true), "note.folder": ("folder", false),
        "mark.note": ("note", true), "item.folder": ("folder", false), "task.note": ("note", true),
        "entry.label": ("label", true), "entry.second": ("label", false),
        "pin.label": ("label", false), "board.parent": ("board", true),
        "card.board": ("board", true),
    ]

    /// Returns an empty file that may lose transactions in a power failure, as in WAL mode.
    static func emptyFile() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        return try DatabaseQueue(configuration: configuration)
    }

    /// The contents of tables, by row and column.
    typealias Contents = [String: [String: StoreValue]]

    /// Returns the SQL of a column's value and its type; text as bytes if it may be arbitrary.
    private static func sql(_ column: String) -> String {
        guard SimulatedValue.columns.contains(column) else { return "\(column), NULL" }
        return
            "CASE typeof(\(column)) WHEN 'text' THEN CAST(\(column) AS BLOB) ELSE \(column) END, "
            + "typeof(\(column))"
    }

    /// Reads all rows.
    static func contents(
        _ database: Database,
        _ variant: SimulationVariant,
        isNew: Bool
    ) throws -> Contents {
        var contents: Contents = [:]
        for table in columns(variant, isNew: isNew) {
            let names = table.columns + (isNew ? table.added : [])
            let statement = try database.cachedStatement(
                sql: "SELECT \(table.key), \(names.map(sql).joined(separator: ", "))"
                    + " FROM \(table.table)"
            )
            let rows = try Row.fetchCursor(statement)
            while let row = try rows.next() {
                var values: [String: StoreValue] = [:]
                for (place, name) in names.enumerated() {
                    let value: DatabaseValue = row[2 * place + 1]
                    guard !SimulatedValue.columns.contains(name) else {
                        values[name] = SimulatedValue.exact(value, type: row[2 * place + 2])
                        continue
                    }
                    switch value.storage {
                    case .null: values[name] = .null
                    case .int64(let number): values[name] = .integer(number)
                    case .double(let number): values[name] = .real(number)
                    case .string(let text): values[name] = .text(text)
                    case .blob(let data): values[name] = .asset(AssetDigest(data))
                    }
                }
                contents["\(table.table)/\(row[0] as String)"] = values
            }
        }
        return contents
    }
}
