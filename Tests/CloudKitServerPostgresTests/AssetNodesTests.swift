#if PostgreSQL
import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "Assets on several PostgreSQL nodes",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct AssetNodesTests {
    private func store(_ bytes: Data, _ storage: any AssetStorage) async throws -> StoredAsset {
        let middle = bytes.count / 2
        return try await storage.store(
            AssetStorageConformance.stream([bytes.prefix(middle), bytes.dropFirst(middle)]),
            limit: .max
        )
    }

    @Test("The same asset may be stored by two nodes at once, and is there once after cleaning")
    func sameAsset() async throws {
        let world = try await AssetWorld(nodes: 2)
        let bytes = AssetStorageConformance.bytes(2 * AssetWorld.chunk + 9)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let kept = try await store(bytes, world.assets(number % 2))
                    let found = try await AssetStorageConformance.read(
                        kept.checksum,
                        world.assets((number + 1) % 2)
                    )
                    #expect(found == bytes)
                }
            }
            try await group.waitForAll()
        }
        try await world.assets().removeAssets(olderThan: world.later()) { _ in true }
        #expect(try world.counts() == [1, 0, 3])
    }

    @Test("A reader gets to the end of an asset that is stored again, and removed as it was before")
    func storedAgain() async throws {
        let world = try await AssetWorld(nodes: 2)
        let bytes = AssetStorageConformance.bytes(3 * AssetWorld.chunk)
        let kept = try await store(bytes, world.assets())
        let contents = try #require(try await world.assets().open(kept.checksum))
        var reader = contents.chunks.makeAsyncIterator()
        var found = try #require(try await reader.next())
        let before = try world.later()
        while try world.later() <= before + 1 {}
        _ = try await store(bytes, world.assets(1))
        try await world.assets(1).removeAsset(kept.checksum, olderThan: before)
        #expect(try world.counts() == [1, 0, 3])
        while let piece = try await reader.next() { found += piece }
        #expect(found == bytes)
    }

    @Test("A reader of an asset that is removed gets an error, and never a shorter one")
    func removedWhileRead() async throws {
        let world = try await AssetWorld(nodes: 2)
        let bytes = AssetStorageConformance.bytes(3 * AssetWorld.chunk)
        let kept = try await store(bytes, world.assets())
        let contents = try #require(try await world.assets().open(kept.checksum))
        var reader = contents.chunks.makeAsyncIterator()
        _ = try #require(try await reader.next())
        try await world.assets(1).removeAsset(kept.checksum, olderThan: world.later())
        let error = await #expect(throws: StorageError.self) {
            while try await reader.next() != nil {}
        }
        #expect(error?.message.contains("was removed while it was read") == true)
    }

    @Test("No removal on another node concerns what was stored again after its time")
    func removalRace() async throws {
        let world = try await AssetWorld(nodes: 3)
        let bytes = AssetStorageConformance.bytes(AssetWorld.chunk + 5)
        let checksum = try await store(bytes, world.assets()).checksum
        for round in 0..<30 {
            let time = try world.later()
            while try world.later() <= time + 1 {}
            async let again = store(bytes, world.assets(round % 2))
            async let removed: Void = world.assets(2)
                .removeAssets(olderThan: time) { _ in false }
            async let removedToo: Void = world.assets((round + 1) % 2)
                .removeAsset(checksum, olderThan: time)
            async let read = { () async throws -> Data? in
                do {
                    return try await AssetStorageConformance.read(checksum, world.assets(2))
                } catch is StorageError {
                    return nil
                }
            }()
            _ = try await again
            _ = try await (removed, removedToo)
            if let seen = try await read { #expect(seen == bytes) }
            let found = try await AssetStorageConformance.read(checksum, world.assets(2))
            #expect(found == bytes, "\(round)")
        }
        try await world.assets().removeAssets(olderThan: world.later()) { _ in false }
        #expect(try world.counts() == [0, 0, 0])
    }

    @Test("Assets are whole where connections are ended while they go up and come down")
    func endedConnections() async throws {
        let world = try await AssetWorld()
        let killer = Task {
            while !Task.isCancelled {
                try world.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """
                )
                await Task.yield()
            }
        }
        for number in 0..<10 {
            let bytes = AssetStorageConformance.bytes(
                number * AssetWorld.chunk / 2,
                seed: UInt64(number + 1)
            )
            let kept = try await store(bytes, world.assets())
            let found = try await AssetStorageConformance.read(kept.checksum, world.assets())
            #expect(found == bytes)
        }
        killer.cancel()
        // Whatever it ended with, the assets are what counts.
        _ = try? await killer.value
        #expect(world.nodes[0].counts.repetitions > 0)
        try await world.assets().removeAssets(olderThan: world.later()) { _ in false }
        #expect(try world.counts() == [0, 0, 0])
    }
}
#endif
