#if PostgreSQL
import CloudKit
import CloudKitExtras
import CloudKitStore
import GRDB

/// A device with a table of notes, which the store syncs.
struct SyncedNotes {
    private let database: DatabaseQueue
    private let store: CloudStore

    init(_ container: CKContainer) throws {
        database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL)"
            )
        }
        var configuration = CloudStore.Configuration()
        configuration.syncsAutomatically = false
        store = try CloudStore(
            database: database,
            container: container,
            tables: [.table("note")],
            configuration: configuration
        )
    }

    func start() async throws { try await store.start() }

    func add(_ id: String) async throws {
        try await database.write {
            try $0.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, "Note \(id)"])
        }
    }

    func sync() async throws { try await store.sync() }

    func ids() async throws -> [String] {
        try await database.read { try String.fetchAll($0, sql: "SELECT id FROM note ORDER BY id") }
    }
}
#endif
