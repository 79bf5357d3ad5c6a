import CloudKit
import CloudKitStore
import Foundation
import GRDB

/// A database file, and the store that keeps it in sync; deleted with its last user.
final class StoreDevice: Sendable {
    let file: DatabaseFile
    let store: CloudStore

    var database: DatabasePool { file.pool }

    init(
        _ container: CKContainer,
        file: DatabaseFile? = nil,
        schema: String = BenchmarkRow.schema,
        tables: [SyncedTable] = [.table("note")]
    ) async throws {
        self.file = try file ?? DatabaseFile(schema: schema)
        var configuration = CloudStore.Configuration()
        configuration.syncsAutomatically = false
        store = try CloudStore(
            database: self.file.pool,
            container: container,
            tables: tables,
            configuration: configuration
        )
        try await store.start()
    }

    func insert(_ count: Int) async throws { try await file.insert(count) }

    func count() async throws -> Int {
        try await database.read { try BenchmarkRow.fetchCount($0) }
    }
}

/// A database in a file of the temporary folder, with its tables.
final class DatabaseFile: Sendable {
    let pool: DatabasePool
    private let folder: URL

    init(
        _ configuration: Configuration = Configuration(),
        schema: String = BenchmarkRow.schema
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "cloudkit-bench-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        pool = try DatabasePool(
            path: folder.appending(path: "rows.sqlite").path,
            configuration: configuration
        )
        try pool.write { try $0.execute(sql: schema) }
    }

    deinit {
        try? pool.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Inserts rows as GRDB's own records, many in a transaction.
    func insert(_ count: Int, batch: Int = 1_000) async throws {
        for start in stride(from: 0, to: count, by: batch) {
            try await pool.write { database in
                for number in start..<min(start + batch, count) {
                    try BenchmarkRow(number).insert(database)
                }
            }
        }
    }
}
