import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("A server on a storage that its program gives it", .timeLimit(.minutes(5)))
struct GivenStorageTests {
    private func configuration(
        _ storage: any Storage,
        _ assets: (any AssetStorage)?
    ) -> CloudServer.Configuration {
        var configuration = CloudServer.Configuration()
        configuration.storage = storage
        configuration.assets = assets
        return configuration
    }

    @Test("A storage comes with one of assets, and without a folder")
    func refused() throws {
        let storage = try SQLiteStorage(path: nil)
        #expect(throws: ServerConfigurationError.self) {
            try CloudServer(configuration: configuration(storage, nil))
        }
        var both = configuration(storage, try FileAssetStorage.temporary())
        both.directory = "/nowhere/cloud"
        #expect(throws: ServerConfigurationError.self) { try CloudServer(configuration: both) }
    }

    @Test("Tokens are not rotated, as no server knows which of them another one took")
    func rotation() throws {
        var rotating = configuration(try SQLiteStorage(path: nil), try FileAssetStorage.temporary())
        rotating.service.rotatesWebTokens = true
        let error = #expect(throws: ServerConfigurationError.self) {
            try CloudServer(configuration: rotating)
        }
        #expect(error?.description.contains("--rotate-tokens") == true)
    }

    @Test("Two servers on one storage serve the same data, and one with other assets does not run")
    func shared() async throws {
        let storage = try SQLiteStorage(path: nil)
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("GivenStorageTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let assets = try FileAssetStorage(sharedFolder: folder.path)
        #expect(assets.location == folder.path)
        let first = configuration(storage, assets)
        let second = configuration(storage, try FileAssetStorage(sharedFolder: folder.path + "/"))
        try await TestServer.run(first) { one in
            try await TestServer.run(second) { other in
                let query = "?ckAPIToken=\(one.apiToken)"
                let path = "/database/1/\(TestServer.container)/development/public/users/caller"
                let caller = try await other.send(other.url + path + query, method: "GET")
                #expect(caller.body.serverErrorCode == "AUTHENTICATION_REQUIRED")
            }
        }
        let elsewhere = configuration(storage, try FileAssetStorage.temporary())
        let error = await #expect(throws: StorageError.self) {
            try await TestServer.run(elsewhere) { _ in }
        }
        #expect(error?.message.contains("are in \(folder.path), not in the storage itself") == true)
    }

    @Test("A shared folder that is not there is not made")
    func missingFolder() throws {
        let error = #expect(throws: StorageError.self) {
            try FileAssetStorage(sharedFolder: "/nowhere/assets")
        }
        #expect(error?.message.contains("/nowhere/assets is no folder") == true)
    }

    @Test("A storage that does not respond is not ready, which a load balancer learns in seconds")
    func stuck() async throws {
        let storage = StuckStorage(base: try SQLiteStorage(path: nil))
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage.temporary(),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        let start = ContinuousClock.now
        #expect(await service.unreadiness() == "The storage cannot be read")
        // Those that ask meanwhile share the read that has yet to end.
        #expect(await service.unreadiness() == "The storage cannot be read")
        #expect(ContinuousClock.now - start < .seconds(60))
        storage.release.finish()
        while await service.unreadiness() != nil {}
    }
}

/// A storage whose reads wait until they are released.
private struct StuckStorage: WrappingStorage {
    let base: SQLiteStorage
    let waiting: AsyncStream<Void>
    let release: AsyncStream<Void>.Continuation

    init(base: SQLiteStorage) {
        self.base = base
        (waiting, release) = AsyncStream.makeStream()
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        for await _ in waiting {}
        return try await base.read(body)
    }
}
