import GRDB

/// The tables in a store's file, as SQLite lists them.
///
/// Views and virtual tables are excluded: Core Data stores nothing in them, and they run code.
struct StoreTables {
    struct Column: Hashable {
        var name: String
        /// The declared type in upper case.
        var type: String
        var isKey: Bool
    }

    /// A limit of columns that no store reaches.
    private static let mostColumns = 200_000

    /// The columns of each table.
    private(set) var columns: [String: [Column]] = [:]

    init(_ database: Database) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT m.name, c.name, c.type, c.pk
                FROM main.sqlite_master m, pragma_table_info(m.name, 'main') c
                WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'
                LIMIT \(Self.mostColumns + 1)
                """
        )
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= Self.mostColumns else {
                throw CoreDataStoreError(
                    .unreadable,
                    "sqlite_master",
                    "more than \(Self.mostColumns) columns"
                )
            }
            guard let table = String.fromDatabaseValue(row[0]),
                let name = String.fromDatabaseValue(row[1])
            else { continue }
            columns[table, default: []].append(
                Column(
                    name: name,
                    type: (String.fromDatabaseValue(row[2]) ?? "").uppercased(),
                    isKey: Int.fromDatabaseValue(row[3]) == 1
                )
            )
        }
    }

    func contains(_ table: String) -> Bool { columns[table] != nil }

    func contains(_ table: String, _ column: String) -> Bool {
        columns[table]?.contains { $0.name == column } == true
    }

    /// The tables whose names begin with `Z_` and a number.
    var numbered: [String] {
        columns.keys.filter { NumberedName($0) != nil }.sorted()
    }
}

/// A name such as `Z_26ASSETS` or `Z_26ASSETS1`.
struct NumberedName: Hashable {
    /// The number of an entity.
    let number: Int64
    /// The part after the number.
    let rest: String

    init?(_ name: String) {
        guard name.hasPrefix("Z_") else { return nil }
        let text = name.dropFirst(2)
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let number = Int64(digits), digits.count < text.count else { return nil }
        self.number = number
        rest = String(text.dropFirst(digits.count))
    }

    /// Returns whether the name is that of a relationship, with or without digits after it.
    func isOf(_ relationship: String) -> Bool {
        let name = relationship.uppercased()
        return rest.hasPrefix(name)
            && rest.dropFirst(name.count).allSatisfy { ("0"..."9").contains($0) }
    }
}

extension String {
    /// The name as an SQL identifier.
    var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
