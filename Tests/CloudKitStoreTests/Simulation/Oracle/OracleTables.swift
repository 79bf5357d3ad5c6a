import GRDB

/// The columns that the oracle checks, with its own SQL for reading the rows.
struct OracleTable {
    let name: String
    /// The SQL of the record's name: the record type, a colon and the key.
    let recordName: String
    /// The columns whose values have to follow a rule.
    let rules: [(column: String, rule: OracleRule)]
    /// The columns that hold whatever SQLite can hold.
    var forms: [String: OracleForm] = [:]
    /// The other synced columns.
    let others: [String]
    /// `true` when a deletion wins against an edit.
    var deletionWins = false

    /// The values of the columns with rules, by record name.
    typealias Rows = [String: [String: OracleValue]]

    static func tables(_ variant: SimulationVariant) -> [OracleTable] {
        switch variant {
        case .plain, .meetings, .assets: plain
        case .unique:
            [
                OracleTable(
                    name: "label",
                    recordName: "'label:' || id",
                    rules: [("name", .later), ("colour", .later), ("since", .later)],
                    forms: ["since": .date],
                    others: []
                ),
                OracleTable(
                    name: "entry",
                    recordName: "'entry:' || id",
                    rules: [("title", .later)],
                    others: ["label", "second"]
                ),
                OracleTable(name: "pin", recordName: "'pin:' || id", rules: [], others: ["label"]),
            ]
        case .permissions, .everything, .families:
            [
                OracleTable(
                    name: "board",
                    recordName: "'board:' || id",
                    rules: [("name", .later)],
                    others: ["parent"]
                ),
                OracleTable(
                    name: "card",
                    recordName: "'card:' || id",
                    rules: [("title", .later), ("body", .later), ("due", .later)],
                    forms: ["due": .date],
                    others: ["board"]
                ),
            ]
        }
    }

    private static let plain = [
        OracleTable(
            name: "folder",
            recordName: "'folder:' || id",
            rules: [("name", .later)],
            others: ["parent"]
        ),
        OracleTable(
            name: "note",
            recordName: "'note:' || id",
            rules: [
                ("title", .later), ("body", .later), ("low", .smallest), ("high", .greatest),
                ("server", .server), ("client", .client), ("custom", .sortsLater),
                ("extra", .later), ("day", .later), ("amount", .later), ("data", .later),
                ("mood", .later), ("flag", .later), ("price", .later), ("rank", .later),
                ("secret", .later),
            ],
            forms: [
                "day": .date, "amount": .real, "data": .bytes, "mood": .text, "flag": .integer,
                "price": .decimal, "rank": .integer, "secret": .secretText,
            ],
            others: ["count", "tags", "photo", "folder"]
        ),
        OracleTable(
            name: "mark",
            recordName: "'mark:' || note || ',' || place",
            rules: [("text", .later)],
            others: []
        ),
        OracleTable(
            name: "item",
            recordName: "'item:' || hex(id)",
            rules: [("name", .later)],
            others: ["folder"],
            deletionWins: true
        ),
        OracleTable(
            name: "task",
            recordName: "'task:' || id",
            rules: [("name", .later)],
            others: ["note"]
        ),
    ]

    /// Returns the rows of all tables, with the existing columns.
    static func rows(_ database: Database, _ tables: [OracleTable]) throws -> Rows {
        var rows: Rows = [:]
        for table in tables where try database.tableExists(table.name) {
            let columns = try Set(database.columns(in: table.name).map(\.name))
            let names = table.rules.map(\.column).filter(columns.contains)
            let parts = names.map { table.sql(of: $0) }
            let list = ([table.recordName] + parts).joined(separator: ", ")
            let found = try Row.fetchCursor(
                database.cachedStatement(sql: "SELECT \(list) FROM \(table.name)")
            )
            while let row = try found.next() {
                var values: [String: OracleValue] = [:]
                for (place, name) in names.enumerated() {
                    let value: DatabaseValue = row[2 * place + 1]
                    guard table.forms[name] == nil else {
                        values[name] = OracleForm.value(value, type: row[2 * place + 2])
                        continue
                    }
                    values[name] =
                        switch value.storage {
                        case .null: OracleValue.none
                        case .int64(let number): .number(number)
                        case .string(let text): .text(text)
                        default: .text("\(value)")
                        }
                }
                rows[row[0]] = values
            }
        }
        return rows
    }

    /// Returns the SQL of a column's value and its type, with text as bytes where it may be any.
    private func sql(of column: String) -> String {
        guard forms[column] != nil else { return "\(column), NULL" }
        return
            "CASE typeof(\(column)) WHEN 'text' THEN CAST(\(column) AS BLOB) ELSE \(column) END, "
            + "typeof(\(column))"
    }

    /// Returns SQLite's form of every synced value, with its type, by row and column.
    static func written(
        _ database: Database,
        _ tables: [OracleTable]
    ) throws -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for table in tables where try database.tableExists(table.name) {
            let columns = try Set(database.columns(in: table.name).map(\.name))
            let names = (table.rules.map(\.column) + table.others).filter(columns.contains)
            let parts = names.map { "'\($0) ' || typeof(\($0)) || ' ' || quote(\($0))" }
            let list = ([table.recordName] + parts).joined(separator: ", ")
            for row in try Row.fetchAll(database, sql: "SELECT \(list) FROM \(table.name)") {
                rows[row[0]] = names.indices.map { row[$0 + 1] ?? "?" }
            }
        }
        return rows
    }
}
