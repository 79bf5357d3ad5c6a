import CloudKitServerCore
import CloudKitServerSQLite
import Foundation
import Testing

@Suite("The folder of assets")
struct FileAssetStorageTests {
    private struct Broken: Error {}

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

    @Test("Bytes are kept once under their SHA-256 and read back in pieces")
    func contents() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        let bytes = Data((0..<200_000).map { UInt8($0 % 253) })
        let kept = try await storage.store(stream([bytes]), limit: 200_000)
        let again = try await storage.store(
            stream([bytes.prefix(7), bytes.dropFirst(7)]),
            limit: 200_000
        )
        #expect(kept == again)
        #expect(kept.size == 200_000)
        #expect(try files(folder).count == 1)
        let contents = try #require(try await storage.open(kept.checksum))
        var found = Data()
        for try await chunk in contents.chunks { found += chunk }
        #expect(found == bytes)
        let none = try await storage.open([UInt8](repeating: 0, count: 32))
        #expect(none == nil)
    }

    @Test("Too many bytes, or a body that breaks off, leave nothing behind")
    func failures() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        await #expect(throws: AssetTooLarge(limit: 10)) {
            try await storage.store(stream([Data(count: 6), Data(count: 6)]), limit: 10)
        }
        let broken = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data(count: 5))
            continuation.finish(throwing: Broken())
        }
        await #expect(throws: Broken.self) { try await storage.store(broken, limit: 10) }
        #expect(try files(folder).isEmpty)
    }

    @Test("Old bytes that nothing needs are removed")
    func removal() async throws {
        let folder = try TemporaryFolder()
        let storage = try FileAssetStorage(directory: folder.path)
        let kept = try await storage.store(stream([Data([1])]), limit: 10)
        let gone = try await storage.store(stream([Data([2])]), limit: 10)
        try await storage.removeAssets(olderThan: 0) { _ in false }
        #expect(try await storage.open(gone.checksum) != nil)
        try await storage.removeAssets(olderThan: .max) { $0 == kept.checksum }
        #expect(try await storage.open(gone.checksum) == nil)
        #expect(try await storage.open(kept.checksum) != nil)
    }

    @Test("A temporary folder goes with its storage")
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
        let after = try folders()
        #expect(!before.subtracting(after).isEmpty)
    }
}
