import GRDB

/// A column that refers to a row of a table.
struct OracleReference {
    let column: String
    let table: String
    /// `true` when the row is deleted with the other.
    var cascades = false
}

/// The columns that the oracle checks, with its own SQL for reading the rows.
struct OracleTable {
    let name: String
    /// The SQL of the record's name: the record type, a colon and the key.
    let recordName: String
    /// The columns whose values have to follow a rule.
    let rules: [(column: String, rule: OracleRule)]
    /// The columns that hold whatever SQLite can hold.
    var forms: [String: OracleForm] = [:]
    /// The columns that refer to other rows.
    var references: [OracleReference] = []
    /// The columns that have a value where nobody wrote one.
    var defaults: [String: OracleValue] = [:]
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
                    forms: ["since": .date]
                ),
                OracleTable(
                    name: "entry",
                    recordName: "'entry:' || id",
                    rules: [("title", .later), ("label", .later), ("second", .later)],
                    references: [
                        OracleReference(column: "label", table: "label", cascades: true),
                        OracleReference(column: "second", table: "label"),
                    ],
                    defaults: ["title": .text("")]
                ),
                OracleTable(
                    name: "pin",
                    recordName: "'pin:' || id",
                    rules: [("label", .later)],
                    references: [OracleReference(column: "label", table: "label")]
                ),
            ]
        case .permissions, .everything, .families:
            [
                OracleTable(
                    name: "board",
                    recordName: "'board:' || id",
                    rules: [("name", .later), ("parent", .later)],
                    references: [
                        OracleReference(column: "parent", table: "board", cascades: true)
                    ],
                    defaults: ["name": .text("")]
                ),
                OracleTable(
                    name: "card",
                    recordName: "'card:' || id",
                    rules: [
                        ("title", .later), ("body", .later), ("due", .later), ("board", .later),
                    ],
                    forms: ["due": .date],
                    references: [OracleReference(column: "board", table: "board", cascades: true)],
                    defaults: ["title": .text("")]
                ),
            ]
        }
    }

    private static let plain = [
        OracleTable(
            name: "folder",
            recordName: "'folder:' || id",
            rules: [("name", .later), ("parent", .later)],
            references: [OracleReference(column: "parent", table: "folder", cascades: true)],
            defaults: ["name": .text("")]
        ),
        OracleTable(
            name: "note",
            recordName: "'note:' || id",
            rules: [
                ("title", .later), ("body", .later), ("low", .smallest), ("high", .greatest),
                ("server", .server), ("client", .client), ("custom", .sortsLater),
                ("extra", .later), ("day", .later), ("amount", .later), ("data", .later),
                ("mood", .later), ("flag", .later), ("price", .later), ("rank", .later),
                ("secret", .later), ("count", .sum), ("tags", .set), ("photo", .later),
                ("folder", .later),
            ],
            forms: [
                "day": .date, "amount": .real, "data": .bytes, "mood": .text, "flag": .integer,
                "price": .decimal, "rank": .integer, "secret": .secretText,
            ],
            references: [OracleReference(column: "folder", table: "folder")],
            defaults: [
                "title": .text(""),
                "mood": OracleForm.value("calm".databaseValue, type: "text"),
            ]
        ),
        OracleTable(
            name: "mark",
            recordName: "'mark:' || note || ',' || place",
            rules: [("text", .later)],
            references: [OracleReference(column: "note", table: "note", cascades: true)],
            defaults: ["text": .text("")]
        ),
        OracleTable(
            name: "item",
            recordName: "'item:' || hex(id)",
            rules: [("name", .later), ("folder", .later)],
            references: [OracleReference(column: "folder", table: "folder")],
            defaults: ["name": .text("")],
            deletionWins: true
        ),
        OracleTable(
            name: "task",
            recordName: "'task:' || id",
            rules: [("name", .later), ("note", .later)],
            references: [OracleReference(column: "note", table: "note", cascades: true)],
            defaults: ["name": .text("")]
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
                    values[name] = table.value(of: value, in: name)
                }
                rows[row[0]] = values
            }
        }
        return rows
    }

    /// Returns the value of a column that holds values of its own type.
    private func value(of value: DatabaseValue, in column: String) -> OracleValue {
        switch value.storage {
        case .null: return .none
        case .int64(let number): return rule(of: column).compared(.number(number))
        case .blob(let data): return .file(data)
        case .string(let text):
            if let reference = references.first(where: { $0.column == column }) {
                return .text("\(reference.table):\(text)")
            }
            guard case .set = rule(of: column) else { return .text(text) }
            return .list(text.split { "[],\" ".contains($0) }.map(String.init))
        default: return .text("\(value)")
        }
    }

    /// Returns the rule of a column.
    func rule(of column: String) -> OracleRule {
        rules.first { $0.column == column }?.rule ?? .later
    }

    /// Returns whether each edit of a column has a value of its own.
    func hasDistinctValues(_ column: String) -> Bool {
        switch rule(of: column) {
        case .sum, .set: false
        default: !references.contains { $0.column == column }
        }
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
            let names = table.rules.map(\.column).filter(columns.contains)
            let parts = names.map { "'\($0) ' || typeof(\($0)) || ' ' || quote(\($0))" }
            let list = ([table.recordName] + parts).joined(separator: ", ")
            for row in try Row.fetchAll(database, sql: "SELECT \(list) FROM \(table.name)") {
                rows[row[0]] = names.indices.map { row[$0 + 1] ?? "?" }
            }
        }
        return rows
    }
}
