import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import Logging
import ServerFixtures
import Synchronization
import Testing

@Suite("A disk that is full or fails")
struct FullDiskTests {
    private static let large: JSON = [
        "text": ["value": .string(String(repeating: "x", count: 200_000))]
    ]

    /// Runs a test against a service on the test's own storage.
    private static func run(
        _ storage: any Storage,
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await TestServer.run(CloudServer(serving: service, logger: logger), test)
    }

    @Test("A write for which the disk has no room names the file to the operator")
    func nameOfFullFile() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/cloud.sqlite"
        let storage = try SQLiteStorage(path: path)
        try await storage.limitSize(to: 1)
        let error = await #expect(throws: StorageError.self) {
            try await storage.write { try $0.setSetting("a", Data(count: 200_000)) }
        }
        #expect(error?.code == .full)
        #expect(error?.message.hasPrefix("The disk of \(path) is full") == true)
    }

    @Test("A file that may not grow refuses writes, serves reads, and recovers")
    func fullFile() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("FullDiskTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = try SQLiteStorage(path: folder.path + "/cloud.sqlite")
        try await Self.run(storage) { server in
            try await server.addZone("Notes")
            _ = try await server.save([FixtureCloud.note("create", "a", Self.large)])
            try await storage.limitSize(to: 500_000)
            var refused: TestServer.Response?
            for number in 0..<10 where refused == nil {
                let response = try await server.save([
                    FixtureCloud.note("create", "n\(number)", Self.large)
                ])
                if response.status != 200 { refused = response }
            }
            let response = try #require(refused)
            #expect((response.status, response.body.serverErrorCode) == (503, "TRY_AGAIN_LATER"))
            #expect(response.body.retryAfter == 60)
            #expect(response.body.reason.text?.contains("disk is full") == true)
            let kept = try await server.names()
            #expect(kept.contains("a"))
            try await storage.limitSize(to: nil)
            let saved = try await server.save([FixtureCloud.note("create", "z", Self.large)])
            #expect(saved.status == 200)
            #expect(try await server.names() == kept + ["z"])
        }
    }

    @Test("Storage that fails leads to a bare status 500, and is used again when it works")
    func failingStorage() async throws {
        let storage = FailingStorage(try SQLiteStorage(path: nil))
        try await Self.run(storage) { server in
            try await server.addZone("Notes")
            storage.error = StorageError(.inputOutput, "the secret place is broken")
            for response in [
                try await server.save([FixtureCloud.note("create", "a")]),
                try await server.call("zones/list", [:]),
            ] {
                #expect((response.status, response.body.serverErrorCode) == (500, "INTERNAL_ERROR"))
                #expect(!String(decoding: response.data, as: UTF8.self).contains("secret"))
            }
            storage.error = StorageError(.full, "no room")
            let full = try await server.save([FixtureCloud.note("create", "a")])
            #expect((full.status, full.body.serverErrorCode) == (503, "TRY_AGAIN_LATER"))
            storage.error = nil
            #expect(try await server.names() == [])
            #expect(try await server.save([FixtureCloud.note("create", "a")]).status == 200)
            #expect(try await server.names() == ["a"])
        }
    }

    /// A storage that fails when a test requests it.
    private final class FailingStorage: Storage {
        private let base: any Storage
        private let failure = Mutex<StorageError?>(nil)

        init(_ base: any Storage) {
            self.base = base
        }

        var error: StorageError? {
            get { failure.withLock { $0 } }
            set { failure.withLock { $0 = newValue } }
        }

        func read<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageReader) throws -> Value
        ) async throws -> Value {
            if let error { throw error }
            return try await base.read(body)
        }

        func write<Value: Sendable>(
            _ body: @escaping @Sendable (any StorageWriter) throws -> Value
        ) async throws -> Value {
            // The writes are undone: a disk fails at the end, when everything is to be kept.
            try await base.write { [self] writer in
                let value = try body(writer)
                if let error { throw error }
                return value
            }
        }
    }

    @Test("A full file system refuses assets and records, leaves no pieces, and recovers")
    func fullFileSystem() async throws {
        guard let disk = SmallDisk(bytes: 4 << 20) else {
            print("Skipped: a full file system needs the right to mount a small one")
            return
        }
        defer { disk.remove() }
        try await TestServer.run(.init(directory: disk.path)) { server in
            try await server.addZone("Notes")
            func upload(_ size: Int) async throws -> TestServer.Response {
                let token: JSON = ["recordName": "n1", "recordType": "Note", "fieldName": "image"]
                let prepared = try await server.call(
                    "assets/upload",
                    ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
                )
                let url = prepared.body.tokens[0].url.text ?? ""
                return try await server.send(url, Data(count: size))
            }
            let refused = try await upload(8 << 20)
            #expect((refused.status, refused.body.serverErrorCode) == (503, "TRY_AGAIN_LATER"))
            let incoming = disk.path + "/assets/incoming"
            #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
            #expect(try await upload(1000).status == 200)

            try disk.fill()
            var statuses: [Int] = []
            for number in 0..<30 {
                let response = try await server.save([
                    FixtureCloud.note("create", "n\(number)", Self.large)
                ])
                statuses.append(response.status)
                if response.status != 200 { break }
            }
            #expect(statuses.last == 503)
            let kept = try await server.names()
            #expect(kept.count == statuses.count { $0 == 200 })
            try disk.empty()
            let saved = try await server.save([FixtureCloud.note("create", "z", Self.large)])
            #expect(saved.status == 200)
            #expect(try await server.names() == kept + ["z"])
        }
    }

    @Test("On a full disk no server starts, says why, and leaves no new folder")
    func start() async throws {
        guard let disk = SmallDisk(bytes: 4 << 20) else {
            print("Skipped: a full file system needs the right to mount a small one")
            return
        }
        defer { disk.remove() }
        let old = disk.path + "/old"
        try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: false)
        // Closed, so that no file of its own goes, and makes room, when the disk is full.
        try SQLiteStorage(path: old + "/cloud.sqlite").close()
        try disk.fill()
        for folder in [old, disk.path + "/new"] {
            let error = #expect(throws: StorageError.self) {
                _ = try CloudServer(configuration: .init(directory: folder))
            }
            #expect(error?.code == .full, "\(folder)")
            #expect(error?.message.contains(folder) == true, "\(error?.message ?? "")")
        }
        #expect(!FileManager.default.fileExists(atPath: disk.path + "/new"))
        try disk.empty()
        try await TestServer.run(.init(directory: old)) { server in
            let zones = try await server.call("zones/list", [:]).body.zones.elements
            #expect(zones.count == 1)
        }
    }

    @Test("A server that ends before it stored anything leaves no new folder")
    func unusedFolder() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/unused-\(UUID().uuidString)"
        let server = try CloudServer(configuration: .init(directory: folder))
        let running = Task { try await server.run() }
        _ = try await server.port()
        running.cancel()
        _ = await running.result
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// An in-memory file system of some megabytes.
    private struct SmallDisk {
        let path: String

        /// Mounts one; returns nil if this process may not.
        init?(bytes: Int) {
            path = FileManager.default.temporaryDirectory.path + "/disk-\(UUID().uuidString)"
            try? FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
            let options = ["-t", "tmpfs", "-o", "size=\(bytes)", "cloudkit-test", path]
            guard Self.run("mount", options) else {
                try? FileManager.default.removeItem(atPath: path)
                return nil
            }
        }

        func remove() {
            _ = Self.run("umount", ["-l", path])
            try? FileManager.default.removeItem(atPath: path)
        }

        private var filling: URL { URL(fileURLWithPath: path + "/filling") }

        /// Uses up the free space.
        func fill() throws {
            try Data().write(to: filling)
            let file = try FileHandle(forWritingTo: filling)
            defer { try? file.close() }
            // In ever smaller pieces, until not one byte fits.
            var size = 1 << 20
            while size > 0 {
                do {
                    try file.write(contentsOf: Data(count: size))
                } catch {
                    size /= 2
                }
            }
        }

        func empty() throws { try FileManager.default.removeItem(at: filling) }

        private static func run(_ command: String, _ arguments: [String]) -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [command] + arguments
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }
}
