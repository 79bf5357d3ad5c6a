#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where the bytes of assets are kept, under their SHA-256.
public protocol AssetStorage: Sendable {
    /// Keeps bytes as they come; durable when it returns.
    ///
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - limit: Bytes at most.
    /// - Returns: What was kept.
    /// - Throws: `AssetTooLarge`, `StorageError`, or what the chunks throw; then nothing is kept.
    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data

    /// Opens kept bytes; nil when there are none of that checksum.
    func open(_ checksum: [UInt8]) async throws -> AssetContents?

    /// Removes the kept bytes of a checksum, if there are any and they are older than a time; bytes that
    /// are kept again are new.
    ///
    /// - Parameters:
    ///   - checksum: SHA-256 of the bytes.
    ///   - milliseconds: The time, since 1970-01-01 UTC.
    /// - Throws: `StorageError`.
    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws

    /// Removes kept bytes that are older than a time and that nothing needs.
    ///
    /// - Parameters:
    ///   - milliseconds: The time, since 1970-01-01 UTC.
    ///   - isNeeded: Whether anything refers to a checksum.
    /// - Throws: `StorageError`, or what `isNeeded` throws.
    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws
}

/// What an asset storage keeps.
public struct StoredAsset: Hashable, Sendable {
    /// SHA-256 of the bytes.
    public var checksum: [UInt8]
    /// The number of bytes.
    public var size: Int64

    /// Makes a description.
    public init(checksum: [UInt8], size: Int64) {
        self.checksum = checksum
        self.size = size
    }
}

/// The upload had more bytes than an asset may have.
public struct AssetTooLarge: Error, Hashable, Sendable {
    /// Bytes of an asset at most.
    public var limit: Int

    /// Makes an error.
    public init(limit: Int) {
        self.limit = limit
    }
}

/// The bytes of an asset, in pieces as they are read.
public struct AssetContents: Sendable {
    /// The number of bytes.
    public var size: Int64
    /// The bytes in order; each piece is read when it is asked for.
    public var chunks: AsyncThrowingStream<Data, any Error>
    /// How the bytes travel to the client; a face over the service carries it out.
    public var delivery = ServiceResponse.Delivery()

    /// Makes contents.
    public init(size: Int64, chunks: AsyncThrowingStream<Data, any Error>) {
        self.size = size
        self.chunks = chunks
    }
}
