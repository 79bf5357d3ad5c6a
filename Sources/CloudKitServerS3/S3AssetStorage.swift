#if S3
package import AsyncHTTPClient
import CloudKitBasics
package import CloudKitServerCore
import Crypto

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// An asset storage that keeps assets as objects of an S3 bucket, named after their SHA-256 as the files of
/// a folder are.
///
/// An upload first goes to a private file on this machine's disk. Its checksum, and therefore its key, is known
/// only at its end; a file bounds the memory, whatever the number and the size of uploads; a client that breaks
/// off costs S3 nothing; a part that was lost can be sent again; and S3 compares each part with its checksum. An
/// object appears under its key when all of its bytes are there.
package final class S3AssetStorage: AssetStorage {
    /// The bytes of a part, and of the largest object that is sent as a whole.
    package static let partBytes: Int64 = 8 << 20
    /// The most parts that S3 accepts.
    static let maxParts: Int64 = 10_000

    private let client: S3Client
    private let partBytes: Int64
    private let pageItems: Int
    private let turns = ChecksumTurns()

    /// The address of the bytes, such as `s3://bucket/prefix`.
    package var location: String? { client.settings.location }

    /// Creates a storage in a bucket, over the HTTP client of the process or another one.
    package convenience init(
        _ settings: S3Settings,
        clock: any ServiceClock,
        over client: HTTPClient? = nil
    ) {
        let transport = HTTPS3Transport(client: client ?? HTTPS3Transport.client)
        self.init(S3Client(settings, transport: transport, clock: clock))
    }

    /// Creates a storage over a client; tests take smaller parts and pages.
    package init(
        _ client: S3Client,
        partBytes: Int64 = S3AssetStorage.partBytes,
        pageItems: Int = 1000
    ) {
        self.client = client
        self.partBytes = partBytes
        self.pageItems = pageItems
    }

    /// Returns whether the bucket has no asset; fails if it cannot be reached.
    ///
    /// - Throws: `StorageError` with the remedy.
    package func isEmpty() async throws -> Bool {
        var next: [(name: String, value: String)] = []
        repeat {
            let page = try await client.list(prefix, next, limit: pageItems)
            if page.items.contains(where: { checksum(of: $0.key) != nil }) { return false }
            next = page.next
        } while !next.isEmpty
        return true
    }

    /// Stores bytes as they arrive; they are durable when it returns.
    package func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data {
        let folder =
            client.settings.spoolFolder ?? FileManager.default.temporaryDirectory.path
        let file = try SpoolFile(in: folder)
        var hash = SHA256()
        for try await chunk in chunks {
            guard file.size + Int64(chunk.count) <= limit else { throw AssetTooLarge(limit: limit) }
            hash.update(data: chunk)
            try file.append(chunk)
        }
        let checksum = Array(hash.finalize())
        // Stored also where it is there already: the object becomes new again, and one that was damaged whole.
        try await turns.store(checksum) { try await upload(file, key(of: checksum), checksum) }
        return StoredAsset(checksum: checksum, size: file.size)
    }

    /// Opens stored bytes; returns `nil` if there are none with that checksum.
    ///
    /// Bytes that do not match the checksum end with an error: immediately if they are few, otherwise in
    /// place of the last piece.
    package func open(_ checksum: [UInt8]) async throws -> AssetContents? {
        let key = key(of: checksum)
        guard let (object, pieces) = try await client.get(key) else { return nil }
        let reading = S3AssetReading(
            client,
            key: key,
            checksum: checksum,
            size: object.size,
            pieces: pieces
        )
        try await reading.begin()
        return AssetContents(
            size: object.size,
            chunks: AsyncThrowingStream { try await reading.next() }
        )
    }

    /// Removes the stored bytes of a checksum, if they exist and are older than a time.
    ///
    /// Of a bucket with versions, the version that is old is removed and no other: an upload of the same bytes
    /// by another server at the same moment stays.
    package func removeAsset(
        _ checksum: [UInt8],
        olderThan milliseconds: Int64
    ) async throws {
        let key = key(of: checksum)
        try await turns.remove(checksum) {
            // Below the newest version another one may appear.
            while let object = try await client.head(key), object.modified < milliseconds {
                try await client.delete(key, version: object.version)
                if object.version == nil { return }
            }
        }
    }

    /// Removes unused stored bytes that are older than a time, and the parts of uploads that were begun before
    /// it and never ended.
    package func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws {
        var next: [(name: String, value: String)] = []
        repeat {
            let page = try await client.list(prefix, next, limit: pageItems)
            for object in page.items where object.modified < milliseconds {
                guard let checksum = checksum(of: object.key), try await !isNeeded(checksum) else {
                    continue
                }
                try await removeAsset(checksum, olderThan: milliseconds)
            }
            next = page.next
        } while !next.isEmpty
        try await removeUploads(olderThan: milliseconds)
    }

    private func removeUploads(olderThan milliseconds: Int64) async throws {
        var next: [(name: String, value: String)] = []
        repeat {
            let page = try await client.listUploads(prefix, next)
            for upload in page.items
            where upload.started < milliseconds && checksum(of: upload.key) != nil {
                try await client.abortUpload(upload.id, upload.key)
            }
            next = page.next
        } while !next.isEmpty
    }

    /// Returns a URL of S3 itself if the settings say so; `nil` otherwise.
    package func downloadURL(of checksum: [UInt8], seconds: Int64) -> String? {
        guard client.settings.downloadsDirectly else { return nil }
        return client.presignedURL(key(of: checksum), seconds: seconds)
    }

    // MARK: Uploads

    private func upload(_ file: SpoolFile, _ key: String, _ checksum: [UInt8]) async throws {
        guard file.size > partBytes else {
            return try await client.put(
                key,
                .file(file, 0..<file.size, checksum: Hexadecimal.text(checksum))
            )
        }
        // A second time where the response to the last request was lost and S3 no longer knows the upload.
        if try await uploadParts(of: file, key) { return }
        guard try await uploadParts(of: file, key) else {
            throw StorageError(
                .busy,
                "S3 lost the parts of \(key) in the bucket \(client.settings.bucket) twice"
            )
        }
    }

    /// Stores a file in parts; returns false if S3 no longer knows the upload at its end.
    private func uploadParts(of file: SpoolFile, _ key: String) async throws -> Bool {
        let size = file.size
        // Larger parts, where there would be too many.
        let bytes = Int(max(partBytes, (size + Self.maxParts - 1) / Self.maxParts))
        let upload = try await client.beginUpload(key)
        do {
            var tags: [String] = []
            for start in stride(from: 0, to: size, by: bytes) {
                let range = start..<min(start + Int64(bytes), size)
                let checksum = try file.checksum(of: range)
                tags.append(
                    try await client.putPart(
                        tags.count + 1,
                        of: upload,
                        key,
                        .file(file, range, checksum: checksum)
                    )
                )
            }
            return try await client.completeUpload(upload, key, parts: tags)
        } catch {
            await abort(upload, key)
            throw error
        }
    }

    /// Removes the parts of an upload, also for a task that was cancelled.
    private func abort(_ upload: String, _ key: String) async {
        let client = client
        await Task {
            // The error of the upload is the one to report; the next cleaning removes the parts.
            try? await client.abortUpload(upload, key)
        }.value
    }

    // MARK: Keys

    /// The beginning of the keys of assets.
    private var prefix: String {
        client.settings.prefix.isEmpty ? "" : client.settings.prefix + "/"
    }

    private func key(of checksum: [UInt8]) -> String {
        let name = Hexadecimal.text(checksum)
        return "\(prefix)\(name.prefix(2))/\(name)"
    }

    /// Returns the checksum in a key; nil for the key of another object.
    private func checksum(of key: String) -> [UInt8]? {
        guard let checksum = Hexadecimal.bytes(key.suffix(64)), checksum.count == 32,
            key == self.key(of: checksum)
        else { return nil }
        return checksum
    }
}
#endif
