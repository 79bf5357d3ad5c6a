import CloudKitServerCore
import CloudKitServerSQLite
import Foundation
import StorageConformance
import Testing

@Suite("The SQLite engine")
struct SQLiteStorageTests {
    @Test("Keeps the promises of a storage in memory", arguments: StorageConformance.checks)
    func memory(check: StorageConformance.Check) async throws {
        try await check.run(SQLiteStorage(path: nil))
    }

    @Test("Keeps the promises of a storage in a file", arguments: StorageConformance.checks)
    func file(check: StorageConformance.Check) async throws {
        let folder = try TemporaryFolder()
        try await check.run(SQLiteStorage(path: folder.path + "/cloud.sqlite"))
    }

    @Test("Keeps them with a transaction for each write too", arguments: StorageConformance.checks)
    func singleWrites(check: StorageConformance.Check) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        try await check.run(SQLiteStorage(path: path, writesPerCommit: 1))
    }

    @Test("A file that is opened again has everything")
    func reopen() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        do {
            let storage = try SQLiteStorage(path: path)
            try await storage.write { try $0.setSetting("a", Data([1])) }
        }
        let storage = try SQLiteStorage(path: path)
        #expect(try await storage.read { try $0.setting("a") } == Data([1]))
    }

    @Test("A file that is no database is refused with its fault")
    func noDatabase() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cloud.sqlite"
        try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
        #expect {
            _ = try SQLiteStorage(path: path)
        } throws: { error in
            (error as? StorageError)?.code == .corrupt
        }
    }
}
