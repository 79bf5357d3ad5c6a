import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import ServerFixtures
import Synchronization
import Testing

@Suite("The folder of a server", .timeLimit(.minutes(5)))
struct FolderTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("FolderTests-\(UUID().uuidString)")

    private func permissions(_ name: String) throws -> Int {
        let path = name.isEmpty ? folder.path : folder.appendingPathComponent(name).path
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// Collects log messages.
    private final class Lines: Sendable {
        let lines = Mutex<[String]>([])
    }

    private struct LineLog: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    @Test("Folder, database and assets are their owner's alone, whatever the umask")
    func permissions() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run(.init(directory: folder.path)) { server in
            try await server.addZone("Notes")
            let token: JSON = ["recordName": "n1", "recordType": "Note", "fieldName": "image"]
            let prepared = try await server.call(
                "assets/upload",
                ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
            )
            let url = try #require(prepared.body.tokens[0].url.text)
            #expect(try await server.send(url, Data(count: 1000)).status == 200)
            #expect(try permissions("") == 0o700)
            let files = try #require(FileManager.default.enumerator(atPath: folder.path))
            var count = 0
            for case let name as String in files {
                #expect(try permissions(name) & 0o077 == 0, "\(name)")
                count += 1
            }
            // The database with its other files, the lock, two folders of assets, and the asset.
            #expect(count >= 7)
        }
    }

    @Test("A folder that others can read is reported, with the command that mends it")
    func warning() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let handler = Lines()
        let logger = Logger(label: "test") { _ in LineLog(lines: handler) }
        _ = try CloudServer(configuration: .init(directory: folder.path), logger: logger)
        _ = try CloudServer(configuration: .init(directory: folder.path), logger: logger)
        #expect(handler.lines.withLock { $0 } == [])
        let secrets = [".env", "notes.env", "api-token", "api-token-iCloud.com.example.notes"]
        for name in secrets {
            let path = folder.appendingPathComponent(name).path
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("assets"),
            withIntermediateDirectories: true
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700],
            ofItemAtPath: folder.appendingPathComponent("assets").path
        )
        for name in ["", "cloud.sqlite", "assets"] + secrets {
            let path = name.isEmpty ? folder.path : folder.appendingPathComponent(name).path
            let before = try permissions(name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            _ = try CloudServer(configuration: .init(directory: folder.path), logger: logger)
            let lines = handler.lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
            #expect(lines.count == 1)
            #expect(lines.first?.contains("chmod -R go= '\(folder.path)'") == true)
            try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: path)
        }
    }

    @Test("A second server on one folder is refused, and one after the first is not")
    func lock() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path
        try await TestServer.run(.init(directory: path)) { first in
            let second = try CloudServer(configuration: .init(directory: path))
            let error = await #expect(throws: ServerConfigurationError.self) {
                try await second.run()
            }
            #expect(error?.description.contains(path) == true)
            await #expect(throws: ServerConfigurationError.self) { try await second.port() }
            try await first.addZone("Notes")
        }
        try await TestServer.run(.init(directory: path)) { server in
            let response = try await server.call("zones/list", [:])
            #expect(response.status == 200)
        }
    }

    @Test("A file that is empty, or is no data of a server, is refused and left as it is")
    func foreign() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("cloud.sqlite")
        // SQLite's smallest database: a page without a table.
        var database = Data("SQLite format 3\0".utf8)
        database += [0x10, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 1, 0, 0, 0, 1] + Data(count: 12)
        database += [0, 0, 0, 4] + Data(count: 8) + [0, 0, 0, 1] + Data(count: 40)
        database += [0x0D, 0, 0, 0, 0, 0x10, 0, 0]
        database += Data(count: 4096 - database.count)
        for contents in [Data(), Data("something else\n".utf8), database] {
            try contents.write(to: file)
            let error = #expect(throws: StorageError.self) {
                _ = try CloudServer(configuration: .init(directory: folder.path))
            }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("cloud.sqlite") == true)
            #expect(try Data(contentsOf: file) == contents)
        }
    }

    @Test(
        "What an end in the middle of the first start leaves does not keep the next from starting"
    )
    func halfMade() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let half = folder.appendingPathComponent("cloud.sqlite.\(UUID().uuidString).new")
        try Data().write(to: half)
        _ = try CloudServer(configuration: .init(directory: folder.path))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("cloud.sqlite"))
    }

    /// Uploads a file; returns the field's value, and the address of its download.
    private func upload(_ bytes: Data, _ server: TestServer) async throws -> String {
        let token: JSON = ["recordName": "n1", "recordType": "Note", "fieldName": "image"]
        let prepared = try await server.call(
            "assets/upload",
            ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
        )
        let url = try #require(prepared.body.tokens[0].url.text)
        let receipt = try await server.send(url, bytes).body.singleFile
        let note = FixtureCloud.note("forceUpdate", "n1", ["image": ["value": receipt]])
        let saved = try await server.save([note])
        return try #require(saved.body.records[0].fields.image.value.downloadURL.text)
    }

    /// Returns the only file of an asset.
    private func assetFile() throws -> URL {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/assets")
        let name = try #require(names.first { $0.split(separator: "/").last?.count == 64 })
        return folder.appendingPathComponent("assets/" + name)
    }

    @Test(
        "A cut, damaged or missing file of an asset is no response with 200, and stands in the log",
        arguments: [10_000, 300_000]
    )
    func damagedAsset(size: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = Lines()
        let logger = Logger(label: "test") { _ in LineLog(lines: log) }
        let server = try CloudServer(configuration: .init(directory: folder.path), logger: logger)
        try await TestServer.run(server) { server in
            try await server.addZone("Notes")
            let bytes = Data((0..<size).map { UInt8($0 % 251) })
            let url = try await upload(bytes, server)
            #expect(try await server.send(url, method: "GET").data == bytes)
            let file = try assetFile()
            let checksum = file.lastPathComponent
            var flipped = bytes
            flipped[size / 2] ^= 1
            for damaged in [
                bytes.prefix(size - 1), bytes.prefix(1), Data(), bytes + bytes, flipped,
            ] {
                try damaged.write(to: file)
                log.lines.withLock { $0 = [] }
                let response = try? await server.send(url, method: "GET")
                // A damaged byte in a file longer than a piece is noticed after the head was sent:
                // no client receives the announced number of bytes.
                let endsEarly = damaged.count == size && size > 65_536
                #expect(response?.status == (endsEarly ? nil : 500), "\(damaged.count)")
                let lines = log.lines.withLock { $0 }
                #expect(lines.count == 1 && lines.allSatisfy { $0.contains(checksum) }, "\(lines)")
            }
            try FileManager.default.removeItem(at: file)
            log.lines.withLock { $0 = [] }
            let response = try await server.send(url, method: "GET")
            #expect(response.status == 404)
            #expect(response.body.reason.text?.contains(checksum) == true)
            #expect(log.lines.withLock { $0 }.allSatisfy { $0.contains(checksum) })
            #expect(log.lines.withLock { $0 }.count == 1)
            // Uploading it again repairs it.
            let again = try await upload(bytes, server)
            #expect(try await server.send(again, method: "GET").data == bytes)
        }
    }

    @Test("A damaged record stands in the log as an error, though its response is no failure")
    func damagedRecord() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = Lines()
        let logger = Logger(label: "test") { _ in LineLog(lines: log) }
        let body: JSON = [
            "zoneID": ["zoneName": "Notes"], "records": [["recordName": "n1"]],
        ]
        let path = folder.path
        let first = try CloudServer(configuration: .init(directory: path), logger: logger)
        let tokens = Mutex(("", ""))
        try await TestServer.run(first) { server in
            try await server.addZone("Notes")
            let note: JSON = [
                "recordName": "n1", "recordType": "Note", "fields": ["body": ["value": "FLIPME"]],
            ]
            let operation: JSON = ["operationType": "create", "record": note]
            let saved = try await server.call(
                "records/modify",
                ["zoneID": ["zoneName": "Notes"], "operations": [operation]]
            )
            #expect(saved.body.records[0].serverErrorCode == nil)
            tokens.withLock { $0 = (server.apiToken, server.webToken) }
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("cloud.sqlite") {
            let file = folder.appendingPathComponent(name)
            var data = try Data(contentsOf: file)
            while let range = data.range(of: Data(#""FLIPME""#.utf8)) {
                data.replaceSubrange(range, with: Data(#""FLIPME "#.utf8))
            }
            try data.write(to: file)
        }
        let second = try CloudServer(configuration: .init(directory: path), logger: logger)
        try await TestServer.run(second) { other in
            let (api, web) = tokens.withLock { $0 }
            let server = TestServer(url: other.url, apiToken: api, webToken: web)
            let response = try await server.call("records/lookup", body)
            #expect(response.status == 200)
            #expect(response.body.records[0].serverErrorCode == "INTERNAL_ERROR")
            #expect(log.lines.withLock { $0 }.filter { $0.contains("corrupt") }.count == 1)
        }
    }

    @Test("Assets without their database keep a server from starting, and stay")
    func missingDatabase() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path
        try await TestServer.run(.init(directory: path)) { server in
            try await server.addZone("Notes")
            _ = try await upload(Data([1, 2, 3]), server)
        }
        let manager = FileManager.default
        let database = folder.appendingPathComponent("cloud.sqlite")
        let away = folder.appendingPathComponent("away")
        for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: database.path + suffix) }
        try manager.moveItem(at: database, to: away)
        let error = #expect(throws: StorageError.self) {
            _ = try CloudServer(configuration: .init(directory: path))
        }
        #expect(error?.message.contains("\(path)/cloud.sqlite is missing") == true)
        #expect(error?.message.contains("move \(path)/assets away") == true)
        #expect(!manager.fileExists(atPath: database.path))
        #expect(manager.fileExists(atPath: try assetFile().path))
        try manager.moveItem(at: away, to: database)
        _ = try CloudServer(configuration: .init(directory: path))
        // Without any asset, a folder is a new one.
        try manager.removeItem(at: database)
        try manager.removeItem(at: folder.appendingPathComponent("assets"))
        for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: database.path + suffix) }
        _ = try CloudServer(configuration: .init(directory: path))
    }

    @Test("A folder stays locked when the file of its lock is removed")
    func removedLock() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path
        try await TestServer.run(.init(directory: path)) { _ in
            try FileManager.default.removeItem(atPath: path + "/server.lock")
            let second = try CloudServer(configuration: .init(directory: path))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await second.run() }
                await #expect(throws: ServerConfigurationError.self) {
                    _ = try await second.port()
                }
                group.cancelAll()
            }
        }
    }
}
