#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A storage for the bytes of assets, by their SHA-256.
public protocol AssetStorage: Sendable {
    /// Stores bytes as they arrive; they are durable when it returns.
    ///
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - limit: The maximum number of bytes.
    /// - Returns: The checksum and size of the bytes.
    /// - Throws: `AssetTooLarge`, `StorageError`, or an error of the chunks; nothing is stored then.
    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data

    /// Opens stored bytes; returns `nil` if there are none with that checksum.
    func open(_ checksum: [UInt8]) async throws -> AssetContents?

    /// Removes the stored bytes of a checksum, if they exist and are older than a time; bytes that
    /// are stored again count as new.
    ///
    /// - Parameters:
    ///   - checksum: SHA-256 of the bytes.
    ///   - milliseconds: The time, since 1970-01-01 UTC.
    /// - Throws: `StorageError`.
    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws

    /// Removes unused stored bytes that are older than a time.
    ///
    /// - Parameters:
    ///   - milliseconds: The time, since 1970-01-01 UTC.
    ///   - isNeeded: A closure that returns whether anything refers to a checksum.
    /// - Throws: `StorageError`, or an error of `isNeeded`.
    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws

    /// The place of the bytes, such as `s3://bucket/prefix`; `nil` for bytes in the server's folder.
    var location: String? { get }

    /// Returns a URL at which anyone can download stored bytes from the storage itself for a limited
    /// time; `nil` if clients download them from the server.
    ///
    /// - Parameters:
    ///   - checksum: SHA-256 of the bytes.
    ///   - seconds: The time for which the URL can be used; the storage may shorten it.
    /// - Returns: The URL, or `nil`.
    func downloadURL(of checksum: [UInt8], seconds: Int64) -> String?
}

extension AssetStorage {
    /// The place of the bytes: the server's folder.
    public var location: String? { nil }

    /// Returns `nil`, because clients download from the server.
    public func downloadURL(of checksum: [UInt8], seconds: Int64) -> String? { nil }
}

/// The description of a stored asset.
public struct StoredAsset: Hashable, Sendable {
    /// SHA-256 of the bytes.
    public var checksum: [UInt8]
    /// The number of bytes.
    public var size: Int64

    /// Creates a description.
    public init(checksum: [UInt8], size: Int64) {
        self.checksum = checksum
        self.size = size
    }
}

/// An error that is thrown when an upload has more bytes than an asset may have.
public struct AssetTooLarge: Error, Hashable, Sendable {
    /// The maximum number of bytes of an asset.
    public var limit: Int

    /// Creates an error.
    public init(limit: Int) {
        self.limit = limit
    }
}

/// The bytes of an asset, in pieces that are read on demand.
public struct AssetContents: Sendable {
    /// The number of bytes.
    public var size: Int64
    /// The bytes in order; each piece is read when it is requested.
    public var chunks: AsyncThrowingStream<Data, any Error>
    /// The way in which the bytes are sent to the client; an adapter over the service implements it.
    public var delivery = ServiceResponse.Delivery()
    /// The strong validator of the bytes in HTTP: their checksum in quotation marks; nil for bytes
    /// that are made while they are read.
    package var entityTag: String?

    /// Creates contents.
    public init(size: Int64, chunks: AsyncThrowingStream<Data, any Error>) {
        self.size = size
        self.chunks = chunks
    }
}
