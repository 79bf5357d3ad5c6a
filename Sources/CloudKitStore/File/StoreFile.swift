import CloudKit
import Foundation
import GRDB

/// The store's file, with all persistent state, behind methods that are one transaction each.
struct StoreFile: Sendable {
    /// The content of the control table.
    struct Control: Sendable {
        var engine: Data?
        var sharedEngine: Data?
        var account: String?
        var zoneIsSaved: Bool
        var blocked: Block?
        var lastSync: Int64?
    }

    /// A condition that waits for the app's decision.
    enum Block: String, Sendable {
        case noAccount
        case accountSwitched
        case purged
        case zoneDestroyed
    }

    let writer: any DatabaseWriter
    let mapping: RowMapping
    let zoneID: CKRecordZone.ID
    /// The prefix of the names of the zones in which the client shares that determines the records' format; nil
    /// for the store's own format.
    var shareZonePrefix: String?

    var catalog: TableCatalog { mapping.catalog }

    /// Reads a consistent state of the file.
    ///
    /// On a queue, GRDB's own `read` turns `query_only` on and off, and after each SQLite compiles
    /// every statement of the connection again. Only another process can change a queue's file
    /// meanwhile, and SQLite reports whether one did.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard writer is DatabaseQueue else { return try await writer.read(body) }
        let value = try await writer.unsafeRead { database -> Value? in
            let version = try database.cachedStatement(sql: "PRAGMA data_version")
            let before = try Int64.fetchOne(version)
            let value = try body(database)
            return try before == Int64.fetchOne(version) ? value : nil
        }
        if let value { return value }
        return try await writer.read(body)
    }

    func control() async throws -> Control {
        try await read { database in
            guard
                let row = try Row.fetchOne(
                    database.cachedStatement(sql: "SELECT * FROM grdb_cloudkit_control")
                )
            else {
                throw CloudStoreError(.unreadableFile, "The table grdb_cloudkit_control is empty")
            }
            return Control(
                engine: row["engine"],
                sharedEngine: row["sharedEngine"],
                account: row["account"],
                zoneIsSaved: row["zoneIsSaved"],
                blocked: (row["blocked"] as String?).flatMap(Block.init),
                lastSync: row["lastSync"]
            )
        }
    }

    /// Sets a column of the control table.
    func set(_ column: String, _ value: (any DatabaseValueConvertible & Sendable)?) async throws {
        try await writer.write { database in
            try database.run("UPDATE grdb_cloudkit_control SET \(column) = ?", [value])
        }
    }

    /// Runs a closure that writes the server's changes, in one transaction.
    func apply<Value: Sendable>(
        _ body: @escaping @Sendable (Database, RowMapping) throws -> Value
    ) async throws -> Value {
        try await writer.writeWithoutTransaction { database in
            try database.transaction {
                try ControlTables.applying(database, catalog) { try body(database, mapping) }
            }
        }
    }

    /// Runs a closure in one transaction that survives a power failure.
    ///
    /// A file in WAL mode usually need not wait for the disk. A note about a request must be
    /// durable before the request leaves.
    func writeDurably<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await writer.writeWithoutTransaction { database in
            try database.with("synchronous", atLeast: 2) {
                try database.transaction { try body(database) }
            }
        }
    }

    /// Returns whether there are changes that can be sent.
    func hasChanges() async throws -> Bool {
        try await read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_outbox WHERE problem IS NULL)"
            )
            return try Bool.fetchOne(statement) ?? false
        }
    }

    /// Returns the number of waiting changes, and numbers that differ after a change was sent or received.
    func progress() async throws -> [Int64] {
        try await read { database in
            // `total` is a real number: the sum of many versions exceeds 64 bits.
            let statement = try database.cachedStatement(
                sql: """
                    SELECT count(*) AS entries, total(version) AS versions, total(length(changed))
                        AS fields
                    FROM grdb_cloudkit_outbox WHERE problem IS NULL
                    """
            )
            let row = try Row.fetchOne(statement)
            // Counting the records takes longer the more there are, so it is skipped when nothing waits.
            guard let row, row["entries"] != 0 else { return [0] }
            let records = try Int64.fetchOne(
                database,
                sql: "SELECT count(*) FROM grdb_cloudkit_record"
            )
            return [
                row["entries"], Int64(row["versions"] as Double), Int64(row["fields"] as Double),
                records ?? 0,
            ]
        }
    }
}
