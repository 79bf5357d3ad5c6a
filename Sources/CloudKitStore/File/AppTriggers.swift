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
        for table in catalog.tables {
            let found = Set(try triggers(of: table).map(\.name))
            let missing = table.declaration.suspendsTriggers.subtracting(found).min()
            guard let missing else { continue }
            throw CloudStoreError(
                .noSuchTrigger,
                "The table '\(table.name)' has no trigger '\(missing)', which suspendsTriggers names; "
                    + "its triggers are \(found.sorted().joined(separator: ", "))"
            )
        }
    }

    /// Returns the problems of triggers that write into synced tables even while the store writes,
    /// one sentence each.
    func warnings() throws -> [String] {
        try catalog.tables.flatMap { table in
            try triggers(of: table).compactMap { trigger in
                guard !table.declaration.suspendsTriggers.contains(trigger.name),
                    // A trigger that reads the control table checks the flag itself.
                    !trigger.sql.contains("grdb_cloudkit_control"),
                    let written = catalog.tables.first(where: { trigger.writes(into: $0.name) })
                else { return nil }
                return "The trigger '\(trigger.name)' of the table '\(table.name)' writes into '"
                    + "\(written.name)' also when the store writes, so that devices will differ; add "
                    + "WHEN \(Self.condition) to it, or declare suspendsTriggers: ["
                    + "\"\(trigger.name)\"]"
            }
        }
    }

    private struct Trigger {
        var name: String
        var sql: String

        /// Returns whether a statement of the trigger inserts, updates or deletes rows of a table.
        func writes(into table: String) -> Bool {
            // SQLite offers no parsed form of a trigger, so its words have to do.
            let words = sql.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
            guard let begin = words.firstIndex(of: "BEGIN") else { return false }
            let name = table.uppercased()
            return words.indices.dropFirst(begin + 2).contains { place in
                guard words[place] == name else { return false }
                let isUpdate =
                    words[place - 1] == "UPDATE"
                    || ["ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK"].contains(words[place - 1])
                return isUpdate || words[place - 1] == "INTO"
                    || (words[place - 1] == "FROM" && words[place - 2] == "DELETE")
            }
        }
    }

    private func triggers(of table: TableSchema) throws -> [Trigger] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT name, sql FROM sqlite_master
                WHERE type = 'trigger' AND lower(tbl_name) = lower(?)
                    AND substr(name, 1, 14) <> 'grdb_cloudkit_' ORDER BY name
                """
        )
        return try Row.fetchAll(statement, arguments: [table.name])
            .map { Trigger(name: $0["name"], sql: $0["sql"]) }
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
