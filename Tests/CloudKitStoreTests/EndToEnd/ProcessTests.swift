import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB
import Support
import Testing

@Suite("Several processes open one file, and one syncs", .timeLimit(.minutes(10)))
struct ProcessTests {
    /// Opens a file like another process: with a separate connection and store.
    private func open(
        _ path: String,
        _ cloud: Cloud,
        _ user: TestCloud.User,
        _ configuration: CloudStore.Configuration = Device.configuration
    ) async throws -> Device {
        var settings = GRDB.Configuration()
        settings.busyMode = .timeout(60)
        let database = try DatabaseQueue(path: path, configuration: settings)
        try await database.write { database in
            try database.execute(
                sql: Device.schema.replacing("CREATE TABLE", with: "CREATE TABLE IF NOT EXISTS")
            )
        }
        return try await Device(cloud, user, database: database, configuration: configuration)
    }

    private func withFile(
        _ body:
            @Sendable (_ path: String, _ cloud: Cloud, _ user: TestCloud.User) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "processes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CloudFixture.inProcess.run { cloud in
            try await body(
                folder.appending(path: "notes.sqlite").path,
                cloud,
                try await cloud.addUser()
            )
        }
    }

    @Test("The first store over a file syncs, for the others too; the next takes over")
    func takeOver() async throws {
        try await withFile { path, cloud, user in
            let first = try await open(path, cloud, user)
            let second = try await open(path, cloud, user)
            #expect(first.store.isLeading)
            #expect(!second.store.isLeading)
            try await second.run("INSERT INTO note (id, title) VALUES ('a', 'of the second')")
            #expect(try await second.store.sync() == SyncSummary())
            #expect(try await first.store.sync().saved == 1)
            #expect(try await second.store.status.waitingToSend == 0)
            await first.store.stop()
            try await second.run("UPDATE note SET title = 'taken over'")
            try await second.store.checkOtherProcesses()
            #expect(second.store.isLeading)
            let summary = try await second.store.sync()
            #expect((summary.saved, summary.received.count) == (1, 0))
            try await first.store.start()
            #expect(!first.store.isLeading)
        }
    }

    @Test("What one process writes the one that syncs sends by itself, and what comes all see")
    func byItself() async throws {
        try await withFile { path, cloud, user in
            var configuration = CloudStore.Configuration()
            configuration.otherProcessInterval = .milliseconds(20)
            let first = try await open(path, cloud, user, configuration)
            let second = try await open(path, cloud, user, configuration)
            try await second.run("INSERT INTO note (id, title) VALUES ('a', 'of the second')")
            try await second.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            let laptop = try await Device(cloud, user)
            try await laptop.run("INSERT INTO note (id, title) VALUES ('b', 'from elsewhere')")
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT count(*) FROM note") == "2")
            try await first.store.sync()
            try await second.wait("SELECT count(*) FROM note", for: 2)
            await first.store.stop()
            try await second.run("INSERT INTO note (id) VALUES ('c')")
            try await second.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            #expect(second.store.isLeading)
            await second.store.stop()
        }
    }

    @Test("Stores over one database in memory are kept apart too")
    func inMemory() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let user = try await cloud.addUser()
            let first = try await Device(cloud, user)
            let second = try await Device(cloud, user, database: first.database)
            #expect(first.store.isLeading && !second.store.isLeading)
            await first.store.stop()
            try await second.run("INSERT INTO note (id) VALUES ('n')")
            #expect(try await second.store.sync().saved == 1)
        }
    }
}
