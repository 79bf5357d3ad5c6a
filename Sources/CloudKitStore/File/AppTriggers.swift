import Foundation
import GRDB

/// The app's triggers on synced tables.
struct AppTriggers {
    private let database: Database
    private let catalog: TableCatalog

    init(_ database: Database, _ catalog: TableCatalog) {
        self.database = database
        self.catalog = catalog
    }

    /// The condition that keeps a trigger from running for the store's writes.
    private static let condition = "(SELECT applying FROM grdb_cloudkit_control) = 0"

    /// Checks that the triggers to be suspended exist.
    func check() throws {
        let all = try triggers()
        for table in catalog.tables {
            let found = Set(all.filter { $0.isOf(table.name) }.map(\.name))
            let missing = table.declaration.suspendsTriggers.subtracting(found).min()
            guard let missing else { continue }
            throw CloudStoreError(
                .noSuchTrigger,
                "The table '\(table.name)' has no trigger '\(missing)', which suspendsTriggers names; "
                    + "its triggers are \(found.sorted().joined(separator: ", "))"
            )
        }
    }

    /// Returns the problems of triggers that run while the store writes, one sentence each: those
    /// that write into synced tables, directly or by way of others, and those that skip rows.
    func warnings() throws -> [String] {
        let all = try triggers()
        return catalog.tables.flatMap { table in
            all.filter { $0.isOf(table.name) }.flatMap { trigger -> [String] in
                guard !table.declaration.suspendsTriggers.contains(trigger.name),
                    !trigger.isConditional
                else { return [] }
                var problems: [String] = []
                if let (written, way) = target(of: trigger, all) {
                    let way = way.map { " by way of '\($0)'" }.joined()
                    problems.append(
                        "writes into '\(written)'\(way) also when the store writes, so "
                            + "that devices will differ"
                    )
                }
                if trigger.skipsRows {
                    problems.append(
                        "skips rows, by RAISE(IGNORE), also when the store writes, so "
                            + "that rows of other devices will be missing here"
                    )
                }
                return problems.map { problem in
                    "The trigger '\(trigger.name)' of the table '\(table.name)' \(problem); add "
                        + "WHEN \(Self.condition) to it, or declare suspendsTriggers: ["
                        + "\"\(trigger.name)\"]"
                }
            }
        }
    }

    /// Returns the first synced table that a trigger writes into, and the names of the other tables
    /// whose triggers lead there.
    private func target(
        of trigger: Trigger,
        _ all: [Trigger]
    ) -> (table: String, way: [String])? {
        var next: [(trigger: Trigger, way: [String])] = [(trigger, [])]
        var seen: Set<String> = []
        while !next.isEmpty {
            let (trigger, way) = next.removeFirst()
            let writes = trigger.writes
            let synced = catalog.tables.first { table in
                writes.contains { $0.table == table.name.lowercased() && $0.isSynced(by: table) }
            }
            if let synced { return (synced.name, way) }
            // The triggers of a synced table are looked at for themselves.
            let names = Set(writes.map(\.table))
                .subtracting(catalog.tables.map { $0.name.lowercased() })
            for name in names.sorted() where seen.insert(name).inserted {
                next += all.filter { $0.isOf(name) && !$0.isConditional }.map {
                    (trigger: $0, way: way + [name])
                }
            }
        }
        return nil
    }

    private struct Trigger {
        var name: String
        var table: String
        /// The statement, without blank space and comments.
        private let tokens: [SQLToken]

        init(_ row: Row) {
            (name, table) = (row["name"], row["tbl_name"])
            tokens = SQLToken.tokens(row["sql"]).filter { $0.kind != .blank }
        }

        func isOf(_ table: String) -> Bool { self.table.lowercased() == table.lowercased() }

        /// `true` when the trigger has a condition on the store's writes.
        var isConditional: Bool { tokens.contains { $0.name == "grdb_cloudkit_control" } }

        /// `true` when a statement of the trigger abandons the row that fired it.
        var skipsRows: Bool {
            tokens.indices.dropLast(2).contains {
                tokens[$0].isWord(["RAISE"]) && tokens[$0 + 2].isWord(["IGNORE"])
            }
        }

        /// The statements of the trigger that insert, update or delete rows.
        var writes: [Write] {
            let begin = tokens.firstIndex { $0.isWord(["BEGIN"]) } ?? tokens.endIndex
            let body = Array(tokens[begin...])
            return body.indices.dropLast().compactMap { place -> Write? in
                var next = place + 1
                switch body[place].text.uppercased() {
                case "INTO" where body[place].kind == .word: break
                case "FROM" where body[place].kind == .word && body[place - 1].isWord(["DELETE"]):
                    break
                case "UPDATE" where body[place].kind == .word:
                    if body[next].isWord(["OR"]) { next += 2 }
                    // Of an insertion's conflict.
                    guard next < body.endIndex, !body[next].isWord(["SET"]) else { return nil }
                    return Write(body[next...], columns: Self.assigned(body[next...]))
                default: return nil
                }
                return Write(body[next...], columns: nil)
            }
        }

        /// Returns the columns that an UPDATE assigns, in lower case; nil if they were not found.
        private static func assigned(_ tokens: ArraySlice<SQLToken>) -> Set<String>? {
            guard let set = tokens.firstIndex(where: { $0.isWord(["SET"]) }) else { return nil }
            var names: Set<String> = []
            var depth = 0
            // A name, or a list of names in parentheses, stands before each sign of equality.
            var isTarget = true
            for token in tokens[(set + 1)...] {
                let isEnd = token.isWord(["WHERE", "FROM", "RETURNING"]) || token.text == ";"
                if depth == 0, token.kind != .quoted, isEnd { break }
                switch (token.kind, token.text) {
                case (.mark, "("): depth += 1
                case (.mark, ")"): depth -= 1
                case (.mark, "=") where depth == 0: isTarget = false
                case (.mark, ",") where depth == 0: isTarget = true
                case (.mark, _): break
                default: if isTarget { names.insert(token.name.lowercased()) }
                }
            }
            return names.isEmpty ? nil : names
        }
    }

    /// A statement of a trigger that writes rows.
    private struct Write {
        /// The table, in lower case.
        var table: String
        /// The assigned columns of an UPDATE; nil for a statement that writes whole rows.
        var columns: Set<String>?

        init?(_ tokens: ArraySlice<SQLToken>, columns: Set<String>?) {
            guard var table = tokens.first else { return nil }
            // The name of the database may stand before the table's.
            let rest = tokens.dropFirst()
            if rest.first?.text == ".", let name = rest.dropFirst().first { table = name }
            self.table = table.name.lowercased()
            self.columns = columns
        }

        /// Returns whether the statement changes what a table's records hold.
        func isSynced(by table: TableSchema) -> Bool {
            guard let columns else { return true }
            let local = Set(table.declaration.localOnly.map { $0.lowercased() })
            return !columns.isSubset(of: local)
        }
    }

    /// Returns the app's triggers on all tables.
    private func triggers() throws -> [Trigger] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT name, tbl_name, sql FROM sqlite_master
                WHERE type = 'trigger' AND substr(name, 1, 14) <> 'grdb_cloudkit_' ORDER BY name
                """
        )
        return try Row.fetchAll(statement).map(Trigger.init)
    }

    // MARK: While the store writes

    /// Removes triggers from the schema for the duration of a closure and its transaction, because
    /// SQLite can only suspend all triggers of a connection.
    static func suspending<Value>(
        _ names: [String],
        in database: Database,
        _ body: () throws -> Value
    ) throws -> Value {
        guard !names.isEmpty else { return try body() }
        var suspended: [String] = []
        for name in names {
            guard let sql = try database.trigger(name) else { continue }
            suspended.append(sql)
            try database.execute(sql: "DROP TRIGGER \(name.quoted)")
        }
        let value = try body()
        for sql in suspended { try database.execute(sql: sql) }
        return value
    }
}
