#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import CloudKit
import CloudKitStore
import GRDB

/// A device of the demonstration: a database file, and the store that syncs it.
struct StoreDevice {
    /// A country as a row.
    struct Country: Codable, Equatable, FetchableRecord, PersistableRecord {
        var code: String
        var name: String
        var zone: String?
        var note: String?
    }

    let name: String
    let database: DatabaseQueue
    let store: CloudStore

    init(_ name: String, path: String, container: CKContainer) async throws {
        self.name = name
        database = try DatabaseQueue(path: path)
        try await database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE country (
                        code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, zone TEXT, note TEXT
                    )
                    """
            )
        }
        var configuration = CloudStore.Configuration()
        configuration.zoneName = "Rows"
        configuration.syncsAutomatically = false
        store = try CloudStore(
            database: database,
            container: container,
            tables: [.table("country")],
            configuration: configuration
        )
        try await store.start()
    }

    func rows() async throws -> [Country] {
        try await database.read { try Country.order(Column("code")).fetchAll($0) }
    }

    func row(_ code: String) async throws -> Country? {
        try await database.read { try Country.fetchOne($0, key: code) }
    }

    func set(_ column: String, of code: String, to value: String) async throws {
        try await database.write { database in
            _ = try Country.filter(key: code)
                .updateAll(database, Column(column).set(to: value))
        }
    }

    /// Syncs, and shows the progress in a bar.
    @discardableResult
    func sync(_ label: String) async throws -> SyncSummary {
        let bar = ProgressLine(label)
        let drawing = Task { [statuses = store.statuses] in
            for try await status in statuses {
                if let fraction = status.progress?.fraction { bar.update(min(fraction, 0.99)) }
            }
        }
        defer { drawing.cancel() }
        let summary = try await store.sync()
        bar.update(1)
        return summary
    }
}
#endif
