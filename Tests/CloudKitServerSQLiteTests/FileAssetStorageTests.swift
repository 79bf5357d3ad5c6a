import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation
import Synchronization
import Testing

@Suite("The folder of assets")
struct FileAssetStorageTests {
    private func stream(_ chunks: [Data]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }

    private func files(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.contains("/") }.sorted()
    }

    @Test("Keeps the promises of an asset storage", arguments: AssetStorageConformance.checks)
    func conformance(check: AssetStorageConformance.Check) async throws {
        let folder = try TemporaryFolder()
        try await check.run(FileAssetStorage(directory: folder.path))
    }

    @Test("Bytes are kept once, and what fails leaves no file")
    func files() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        let bytes = Data((0..<200_000).map { UInt8($0 % 253) })
        _ = try await storage.store(stream([bytes]), limit: 200_000)
        _ = try await storage.store(
            stream([bytes.prefix(7), bytes.dropFirst(7)]),
            limit: 200_000
        )
        #expect(try files(folder).count == 1)
        await #expect(throws: AssetTooLarge(limit: 10)) {
            try await storage.store(stream([Data(count: 6), Data(count: 6)]), limit: 10)
        }
        #expect(try files(folder).count == 1)
    }

    @Test("A temporary folder goes with its storage", .timeLimit(.minutes(10)))
    func temporary() async throws {
        var storage: FileAssetStorage? = try FileAssetStorage.temporary()
        _ = try await storage?.store(stream([Data([1])]), limit: 10)
        let parent = FileManager.default.temporaryDirectory
        func folders() throws -> Set<String> {
            Set(
                try FileManager.default.contentsOfDirectory(atPath: parent.path)
                    .filter { $0.hasPrefix("cloudkit-assets-") }
            )
        }
        let before = try folders()
        storage = nil
        // The thread that stored the bytes may release it a moment later.
        while try before.isSubset(of: folders()) { await Task.yield() }
    }

    @Test("A damaged file is noticed before its last piece is out")
    func damage() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        let bytes = Data((0..<200_000).map { UInt8($0 % 253) })
        let kept = try await storage.store(stream([bytes]), limit: 200_000)
        let path = folder.path + "/" + (try #require(try files(folder).first))
        for place in [0, 100_000, 199_999] {
            var damaged = bytes
            damaged[place] ^= 1
            try damaged.write(to: URL(fileURLWithPath: path))
            let contents = try #require(try await storage.open(kept.checksum))
            var found = Data()
            await #expect(throws: StorageError.self) {
                for try await piece in contents.chunks { found += piece }
            }
            #expect(found.count < bytes.count)
        }
    }

    @Test("A file that cannot be read is named in the error")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        let kept = try await storage.store(stream([Data([1])]), limit: 10)
        let path = folder.path + "/" + (try #require(try files(folder).first))
        // A folder can be opened, and its bytes cannot be read.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false
        )
        let error = await #expect(throws: StorageError.self) {
            for try await _ in try #require(try await storage.open(kept.checksum)).chunks {}
        }
        let name = URL(fileURLWithPath: path).lastPathComponent
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test("What an upload left that ended with its process goes, what is being written stays")
    func remains() async throws {
        let folder = try TemporaryFolder()
        let running = try FileAssetStorage(directory: folder.path)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let upload = Task { try await running.store(stream, limit: 10) }
        continuation.yield(Data([1]))
        let incoming = folder.path + "/incoming"
        while try FileManager.default.contentsOfDirectory(atPath: incoming).isEmpty {
            await Task.yield()
        }
        try Data([9]).write(to: URL(fileURLWithPath: incoming + "/left"))
        _ = try FileAssetStorage(directory: folder.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: incoming)
        #expect(names.count == 1 && names != ["left"])
        continuation.yield(Data([2]))
        continuation.finish()
        let kept = try await upload.value
        #expect(try await running.open(kept.checksum) != nil)
    }

    @Test("The folder above a new one is made durable too")
    func parents() async throws {
        let folder = try TemporaryFolder()
        let synced = Mutex<[String]>([])
        let storage = try FileAssetStorage(directory: folder.path) { path in
            synced.withLock { $0.append(path) }
        }
        let kept = try await storage.store(stream([Data([1])]), limit: 10)
        let name = String(kept.checksum[0], radix: 16)
        let own = folder.path + "/" + (name.count == 1 ? "0" + name : name)
        #expect(synced.withLock { $0 } == [folder.path, own])
        _ = try await storage.store(stream([Data([1])]), limit: 10)
        #expect(synced.withLock { $0 } == [folder.path, own, own])
    }
}
