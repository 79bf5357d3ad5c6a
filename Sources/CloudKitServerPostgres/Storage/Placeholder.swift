#if PostgreSQL
public import CloudKitServerCore
import Foundation

extension PostgresStorage {
    public func assetStorage() -> any AssetStorage { NoAssets() }
}

struct NoAssets: AssetStorage {
    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data {
        throw StorageError(.other, "placeholder")
    }
    func open(_ checksum: [UInt8]) async throws -> AssetContents? { nil }
    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws {}
    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable ([UInt8]) async throws -> Bool
    ) async throws {}
}
#endif
