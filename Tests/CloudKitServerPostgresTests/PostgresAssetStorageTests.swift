#if PostgreSQL
import AssetStorageConformance
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

/// A database of assets that some nodes share.
struct AssetWorld {
    let server: PostgresServer
    let address: String
    let nodes: [PostgresStorage]

    init(nodes count: Int = 1, connections: Int = 4) async throws {
        server = try PostgresServer.shared.get()
        address = try server.newDatabase()
        var nodes: [PostgresStorage] = []
        for _ in 0..<count {
            nodes.append(try await PostgresServer.open(address, connections: connections))
        }
        self.nodes = nodes
    }

    /// The storage of a node.
    func assets(_ node: Int = 0) -> any AssetStorage { nodes[node].assetStorage() }

    /// The bytes of a chunk.
    static let chunk = 256 * 1024

    /// A time after everything so far, by the server's clock.
    func later() throws -> Int64 {
        try #require(
            Int64(sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 1"))
        )
    }

    @discardableResult
    func sql(_ text: String) throws -> String { try server.run(text, in: address) }

    /// The numbers of files, of sets of chunks without one, and of chunks.
    func counts() throws -> [Int] {
        try ["file", "upload", "chunk"].compactMap { table in
            try Int(sql("SELECT count(*) FROM asset_\(table)"))
        }
    }

    /// Waits until a query returns a number other than 0.
    func wait(_ query: String) async throws {
        while try sql(query) == "0" { await Task.yield() }
    }
}

@Suite(
    "Assets in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct PostgresAssetStorageTests {
    private func store(
        _ bytes: Data,
        in pieces: Int = 100_000,
        _ storage: any AssetStorage
    ) async throws -> StoredAsset {
        let chunks = stride(from: 0, to: bytes.count, by: pieces).map {
            bytes[$0..<min($0 + pieces, bytes.count)]
        }
        return try await storage.store(AssetStorageConformance.stream(chunks), limit: .max)
    }

    @Test("Keeps the promises of an asset storage", arguments: AssetStorageConformance.checks)
    func conformance(check: AssetStorageConformance.Check) async throws {
        try await check.run(PostgresServer.open().assetStorage())
    }

    @Test("An asset of several chunks is whole, however they meet the pieces that arrive")
    func sizes() async throws {
        let world = try await AssetWorld()
        let chunk = AssetWorld.chunk
        for size in [chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 7] {
            let bytes = AssetStorageConformance.bytes(size, seed: UInt64(size))
            for pieces in [chunk / 4 + 1, chunk, 2 * chunk + 3, size] {
                let kept = try await store(bytes, in: pieces, world.assets())
                #expect(kept.size == Int64(size))
                let found = try await AssetStorageConformance.read(kept.checksum, world.assets())
                #expect(found == bytes, "\(size) in pieces of \(pieces)")
            }
        }
        // Each of the five is stored once, and in as few chunks as it fills.
        #expect(try world.counts() == [5, 0, 1 + 1 + 2 + 3 + 4])
        #expect(try world.sql("SELECT max(octet_length(bytes)) FROM asset_chunk") == "\(chunk)")
        let storage =
            "SELECT attstorage FROM pg_attribute WHERE attrelid = 'asset_chunk'::regclass "
            + "AND attname = 'bytes'"
        #expect(try world.sql(storage) == "e")
    }

    @Test("A client that sends or reads slowly keeps no connection", .timeLimit(.minutes(5)))
    func slowClients() async throws {
        let world = try await AssetWorld(connections: 1)
        let bytes = AssetStorageConformance.bytes(4 * AssetWorld.chunk)
        let kept = try await store(bytes, world.assets())
        let contents = try #require(try await world.assets().open(kept.checksum))
        var reader = contents.chunks.makeAsyncIterator()
        var found = try #require(try await reader.next())
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let upload = Task { [assets = world.assets()] in
            try await assets.store(stream, limit: .max)
        }
        continuation.yield(AssetStorageConformance.bytes(2 * AssetWorld.chunk, seed: 2))
        try await world.wait("SELECT count(*) FROM asset_upload")
        // The only connection is free, and holds no transaction.
        try await world.nodes[0].write { try $0.setSetting("a", Data([1])) }
        let open = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND state <> 'idle'
            """
        while try world.sql(open) != "0" { await Task.yield() }
        continuation.finish()
        #expect(try await upload.value.size == Int64(2 * AssetWorld.chunk))
        while let piece = try await reader.next() { found += piece }
        #expect(found == bytes)
    }

    @Test("A damaged or a missing chunk is an error before the last piece is out")
    func damage() async throws {
        let chunk = AssetWorld.chunk
        for size in [1000, 3 * chunk] {
            let bytes = AssetStorageConformance.bytes(size)
            for change in [
                "UPDATE asset_chunk SET bytes = set_byte(bytes, 7, get_byte(bytes, 7) # 1)",
                "UPDATE asset_chunk SET bytes = substr(bytes, 2) WHERE start = 0",
                "UPDATE asset_chunk SET bytes = bytes || '\\x00'",
                "DELETE FROM asset_chunk WHERE start = (SELECT max(start) FROM asset_chunk)",
                "DELETE FROM asset_chunk WHERE start = 0",
            ] {
                let world = try await AssetWorld()
                let kept = try await store(bytes, world.assets())
                try world.sql(change)
                var found = Data()
                let error = await #expect(throws: StorageError.self, "\(change)") {
                    let contents = try #require(try await world.assets().open(kept.checksum))
                    for try await piece in contents.chunks { found += piece }
                }
                #expect(error?.code == .corrupt)
                #expect(found.count < bytes.count, "\(size): \(change)")
                // The same bytes, stored again, mend it.
                _ = try await store(bytes, world.assets())
                let mended = try await AssetStorageConformance.read(kept.checksum, world.assets())
                #expect(mended == bytes)
            }
        }
    }

    @Test("An asset whose chunks were lost before its end is not stored")
    func lostChunk() async throws {
        let world = try await AssetWorld()
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let upload = Task { [assets = world.assets()] in
            try await assets.store(stream, limit: .max)
        }
        continuation.yield(Data(count: 2 * AssetWorld.chunk + 1))
        try await world.wait("SELECT count(*) FROM asset_chunk WHERE start > 0")
        try world.sql("DELETE FROM asset_chunk WHERE start = 0")
        continuation.finish()
        await #expect(throws: StorageError.self) { try await upload.value }
        #expect(try world.counts() == [0, 0, 0])
    }

    @Test("What a node leaves that ends during an upload or a removal goes with cleaning")
    func remains() async throws {
        let world = try await AssetWorld(nodes: 2)
        let kept = try await store(Data([1]), world.assets(1))
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let upload = Task { [assets = world.assets()] in
            try await assets.store(stream, limit: .max)
        }
        continuation.yield(Data(count: 2 * AssetWorld.chunk + 1))
        try await world.wait("SELECT count(*) FROM asset_chunk WHERE start > 0")
        world.nodes[0].close()
        continuation.finish()
        await #expect(throws: StorageError.self) { try await upload.value }
        #expect(try world.counts() == [1, 1, 3])
        // As a removal leaves it that ended before the first chunk.
        try world.sql(
            """
            WITH gone AS (DELETE FROM asset_file RETURNING upload)
            INSERT INTO asset_upload (id, is_removed) SELECT upload, true FROM gone
            """
        )
        #expect(try await world.assets(1).open(kept.checksum) == nil)
        try await world.assets(1).removeAssets(olderThan: 0) { _ in true }
        #expect(try world.counts() == [0, 1, 2])
        try await world.assets(1).removeAssets(olderThan: world.later()) { _ in true }
        #expect(try world.counts() == [0, 0, 0])
    }

    @Test("An upload that was removed as left behind fails, and leaves nothing")
    func removedUpload() async throws {
        for rest in [Data(), Data(count: AssetWorld.chunk)] {
            let world = try await AssetWorld(nodes: 2)
            let (stream, continuation) = AsyncStream<Data>.makeStream()
            let upload = Task { [assets = world.assets()] in
                try await assets.store(stream, limit: .max)
            }
            continuation.yield(Data(count: AssetWorld.chunk + 1))
            try await world.wait("SELECT count(*) FROM asset_chunk")
            try await world.assets(1).removeAssets(olderThan: world.later()) { _ in true }
            continuation.yield(rest)
            continuation.yield(rest)
            continuation.finish()
            let error = await #expect(throws: StorageError.self) { try await upload.value }
            #expect(error?.message.contains("upload the asset again") == true)
            try await world.assets(1).removeAssets(olderThan: world.later()) { _ in true }
            #expect(try world.counts() == [0, 0, 0])
        }
    }

    @Test("A large asset is removed in bounded steps")
    func steps() async throws {
        let world = try await AssetWorld()
        let kept = try await store(Data(count: 150 * AssetWorld.chunk), world.assets())
        try world.sql(
            """
            CREATE TABLE step (number bigint);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO step SELECT count(*) FROM gone;
                RETURN NULL;
            END $$;
            CREATE TRIGGER note AFTER DELETE ON asset_chunk REFERENCING OLD TABLE AS gone
                FOR EACH STATEMENT EXECUTE FUNCTION note()
            """
        )
        try await world.assets().removeAsset(kept.checksum, olderThan: world.later())
        #expect(try world.counts() == [0, 0, 0])
        #expect(try world.sql("SELECT string_agg(number::text, ' ') FROM step") == "64 64 22")
    }

    @Test("A database with the first migration alone gets the tables of assets")
    func migration() async throws {
        let server = try PostgresServer.shared.get()
        let address = try server.newDatabase()
        let first = try await PostgresServer.open(address)
        try await first.write { try $0.setSetting("a", Data([7])) }
        first.close()
        try server.run(
            """
            DROP TABLE asset_file, asset_upload, asset_chunk;
            ALTER TABLE record DROP COLUMN checksum;
            ALTER TABLE kept_record DROP COLUMN checksum;
            DELETE FROM migration WHERE number > 1
            """,
            in: address
        )
        let storage = try await PostgresServer.open(address)
        #expect(try await storage.read { try $0.setting("a") } == Data([7]))
        let kept = try await store(Data([1, 2]), storage.assetStorage())
        let found = try await AssetStorageConformance.read(kept.checksum, storage.assetStorage())
        #expect(found == Data([1, 2]))
        #expect(try server.run("SELECT max(number) >= 2 FROM migration", in: address) == "t")
    }
}
#endif
