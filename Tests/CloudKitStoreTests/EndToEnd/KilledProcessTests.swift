import CloudKit
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import GRDB
import ProcessFixtures
import Support
import Testing

@Suite("A process that syncs a file is killed", .timeLimit(.minutes(10)))
struct KilledProcessTests {
    private static let schema =
        "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, title TEXT)"

    /// Starts a separate process that has the store of a file open.
    private static func child(
        _ path: String,
        _ client: WebClient,
        table: String = "note",
        temporaryFolder: URL = FileManager.default.temporaryDirectory
    ) async throws -> ChildProcess {
        try await ChildProcess(
            "StoreProcess",
            [
                path, client.url, client.container, client.credentials.apiToken,
                client.credentials.webAuthToken ?? "", table,
            ],
            variables: ["TMPDIR": temporaryFolder.path]
        )
    }

    @Test("It syncs what this one writes; when it is killed, this one takes over")
    func killed() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "killed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "notes.sqlite").path
        try await CloudFixture.overHTTP.run { cloud in
            let user = try await cloud.addUser()
            var settings = GRDB.Configuration()
            settings.busyMode = .timeout(60)
            let database = try DatabaseQueue(path: path, configuration: settings)
            try await database.write { try $0.execute(sql: Self.schema) }
            let child = try await Self.child(path, try await cloud.client(of: user))
            #expect(child.words == ["leading"])
            var configuration = CloudStore.Configuration()
            configuration.otherProcessInterval = .milliseconds(20)
            let device = try await Device(
                cloud,
                user,
                database: database,
                tables: [.table("note")],
                configuration: configuration
            )
            #expect(!device.store.isLeading)
            try await device.run("INSERT INTO note VALUES ('a', 'sent by the other')")
            try await device.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            #expect(!device.store.isLeading)
            await child.kill()
            try await device.run("INSERT INTO note VALUES ('b', 'sent by this one')")
            try await device.wait("SELECT count(*) FROM grdb_cloudkit_outbox", for: 0)
            #expect(device.store.isLeading)
            let laptop = try await Device(
                cloud,
                user,
                tables: [.table("note")],
                schema: Self.schema,
                configuration: Device.configuration
            )
            try await laptop.store.sync()
            #expect(try await laptop.value("SELECT count(*) FROM note") == "2")
            await device.store.stop()
        }
    }

    @Test("It leaves a photo that it downloads beside the database alone, until the next start")
    func killedWithPhoto() async throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "killed-\(UUID().uuidString)")
        let temporary = folder.appending(path: "temporary")
        try files.createDirectory(at: temporary, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let path = folder.appending(path: "photos.sqlite").path
        let schema = "CREATE TABLE picture (id TEXT PRIMARY KEY NOT NULL, photo BLOB)"
        let tables: [SyncedTable] = [.table("picture", assets: ["photo": .withRow])]
        let bytes = Data(repeating: 7, count: 10_000)
        try await CloudFixture.overHTTP.run { cloud in
            let user = try await cloud.addUser()
            let laptop = try await Device(cloud, user, tables: tables, schema: schema)
            try await laptop.run("INSERT INTO picture VALUES ('p', ?)", [bytes])
            try await laptop.store.settled()

            let database = try DatabaseQueue(path: path)
            try await database.write { try $0.execute(sql: schema) }
            let child = try await Self.child(
                path,
                try await cloud.client(of: user),
                table: "picture",
                temporaryFolder: temporary
            )
            #expect(child.words == ["downloaded"])
            await child.kill()
            #expect(try files.subpathsOfDirectory(atPath: temporary.path) == [])
            let assets = path + "-cloudkit-assets"
            let left = try files.subpathsOfDirectory(atPath: assets).map { assets + "/" + $0 }
            #expect(left.contains { files.contents(atPath: $0) == bytes })
            for path in [assets] + left {
                let attributes = try files.attributesOfItem(atPath: path)
                let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
                #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600))
            }

            let phone = try await Device(cloud, user, database: database, tables: tables)
            #expect(left.allSatisfy { !files.fileExists(atPath: $0) })
            try await phone.store.settled()
            #expect(try await phone.value("SELECT length(photo) FROM picture") == "10000")
            await phone.store.stop()
        }
    }
}
