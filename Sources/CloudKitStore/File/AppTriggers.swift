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
            let names = trigger.writtenTables
            let synced = catalog.tables.first { names.contains($0.name.lowercased()) }
            if let synced { return (synced.name, way) }
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

        /// The tables whose rows the trigger's statements insert, update or delete, in lower case.
        var writtenTables: Set<String> {
            let begin = tokens.firstIndex { $0.isWord(["BEGIN"]) } ?? tokens.endIndex
            let body = Array(tokens[begin...])
            let names = body.indices.dropLast().compactMap { place -> String? in
                var next = place + 1
                switch body[place].text.uppercased() {
                case "INTO" where body[place].kind == .word: break
                case "FROM" where body[place].kind == .word && body[place - 1].isWord(["DELETE"]):
                    break
                case "UPDATE" where body[place].kind == .word:
                    if body[next].isWord(["OR"]) { next += 2 }
                    // Of an insertion's conflict.
                    guard next < body.endIndex, !body[next].isWord(["SET"]) else { return nil }
                default: return nil
                }
                return body[next].name.lowercased()
            }
            return Set(names)
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
