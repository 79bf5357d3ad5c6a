#if PostgreSQL
public import CloudKitServerCore
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PostgresStorage {
    /// Returns a storage for the bytes of assets in the same database, over the same connections.
    ///
    /// Nodes need nothing else to share: no folder, and no other service.
    public func assetStorage() -> any AssetStorage { PostgresAssetStorage(storage: self) }
}

/// An asset storage that keeps assets as rows of some hundred kilobytes.
///
/// Each chunk is a short transaction, so that a client that sends or reads slowly keeps neither a connection
/// nor a transaction. An upload becomes visible with its last chunk. Equal bytes that are stored again are
/// another set of chunks, which replaces the former one; so no removal, on whichever node, concerns bytes that
/// were stored after it was decided.
struct PostgresAssetStorage: AssetStorage {
    /// The number of files that cleaning looks at together.
    private static let pageFiles = 500
    private static let pageUploads = 100

    let storage: PostgresStorage

    var location: String? { "PostgreSQL" }

    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data {
        var upload = Upload(storage: storage)
        do {
            var size = 0
            for try await chunk in chunks {
                size += chunk.count
                guard size <= limit else { throw AssetTooLarge(limit: limit) }
                try await upload.add(chunk)
            }
            let (asset, former) = try await upload.complete()
            for set in former { await removeAnyway(set) }
            return asset
        } catch {
            if upload.hasChunks { await removeAnyway(upload.id) }
            throw error
        }
    }

    func open(_ checksum: [UInt8]) async throws -> AssetContents? {
        let file = try await storage.runOnAssets { try $0.file(Data(checksum)) }
        guard let file else { return nil }
        let reading = AssetReading(file, storage)
        try await reading.begin()
        return AssetContents(
            size: file.size,
            chunks: AsyncThrowingStream { try await reading.next() }
        )
    }

    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws {
        try await removeFiles(Data(checksum), olderThan: milliseconds)
    }

    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws {
        var last: AssetFile?
        repeat {
            let page = try await storage.runOnAssets { [last] transaction in
                try transaction.unusedFiles(
                    after: last,
                    olderThan: milliseconds,
                    limit: Self.pageFiles
                )
            }
            for file in page {
                // Two nodes that stored the same bytes at the same time do not see each other's set.
                if file.isNewest, try await isNeeded(Array(file.checksum)) { continue }
                try await removeFiles(
                    file.checksum,
                    upload: file.upload,
                    olderThan: milliseconds
                )
            }
            last = page.count == Self.pageFiles ? page.last : nil
        } while last != nil
        try await removeRemains(unchangedSince: milliseconds)
    }

    // MARK: Removal

    private func removeFiles(
        _ checksum: Data,
        upload: Data? = nil,
        olderThan milliseconds: Int64
    ) async throws {
        let sets = try await storage.runOnAssets { transaction in
            try transaction.removeFiles(checksum, upload: upload, olderThan: milliseconds)
        }
        for set in sets { try await removeChunks(of: set) }
    }

    /// Removes what uploads and removals left that did not come to their end.
    private func removeRemains(unchangedSince milliseconds: Int64) async throws {
        while true {
            let sets = try await storage.runOnAssets { transaction in
                try transaction.abandonedUploads(
                    unchangedSince: milliseconds,
                    limit: Self.pageUploads
                )
            }
            guard !sets.isEmpty else { return }
            for set in sets { try await removeChunks(of: set) }
        }
    }

    private func removeChunks(of set: Data) async throws {
        while try await storage.runOnAssets({ try $0.removeChunks(of: set) }) {}
    }

    /// Removes a set of chunks that is no file, also for a task that was cancelled.
    private func removeAnyway(_ set: Data) async {
        await Task {
            // The upload's own result is the one to report; cleaning removes what is left.
            try? await storage.runOnAssets { try $0.abandon(set) }
            // As above.
            try? await removeChunks(of: set)
        }.value
    }
}

/// The bytes of an asset while they arrive, of which at most one chunk is in memory.
private struct Upload {
    let storage: PostgresStorage
    let id = Worker.newMarker()
    /// `true` when chunks may be stored already.
    private(set) var hasChunks = false
    private var hash = SHA256()
    /// The bytes that are not stored yet, and their place.
    private var rest = Data()
    private var start: Int64 = 0

    init(storage: PostgresStorage) { self.storage = storage }

    mutating func add(_ bytes: Data) async throws {
        hash.update(data: bytes)
        var bytes = bytes[...]
        // What fills a chunk waits for more: the last one is stored together with the file.
        while rest.count + bytes.count > PostgresTransaction.chunkBytes {
            let part = bytes.prefix(PostgresTransaction.chunkBytes - rest.count)
            rest += part
            bytes = bytes.dropFirst(part.count)
            try await send()
        }
        rest += bytes
    }

    private mutating func send() async throws {
        hasChunks = true
        let isThere = try await storage.runOnAssets { [id, rest, start] transaction in
            try transaction.addChunk(rest, at: start, of: id)
        }
        guard isThere else { throw Self.removed }
        start += Int64(rest.count)
        rest = Data()
    }

    /// Stores the last chunk; returns the asset, and the sets of chunks that it has replaced.
    func complete() async throws -> (asset: StoredAsset, former: [Data]) {
        let checksum = Array(hash.finalize())
        let size = start + Int64(rest.count)
        let file = AssetFile(checksum: Data(checksum), upload: id, size: size, bytes: rest)
        let former = try await storage.runOnAssets { [start] transaction in
            try transaction.complete(file, lastChunkAt: start)
        }
        guard let former else { throw Self.removed }
        return (StoredAsset(checksum: checksum, size: size), former)
    }

    private static let removed = StorageError(
        .busy,
        "The chunks of an upload were removed before its end, because nothing had arrived for too long; "
            + "upload the asset again"
    )
}
#endif
