#if S3
import CloudKitBasics
import CloudKitServerCore
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads an object that is named after its checksum; the last piece is returned only if all pieces match it.
///
/// Where the connection is lost, it goes on in another one from the byte that was not received.
actor S3AssetReading {
    /// The most bytes that are checked before any of them is returned.
    static let checkedBytes: Int64 = 64 * 1024

    private let client: S3Client
    private let key: String
    private let checksum: [UInt8]
    private let size: Int64
    private var pieces: @Sendable () async throws -> Data?
    private var hash = SHA256()
    private var received: Int64 = 0
    /// The newest piece, which is returned when another one, or the end, has arrived.
    private var held: Data?
    private var isAtEnd = false

    init(
        _ client: S3Client,
        key: String,
        checksum: [UInt8],
        size: Int64,
        pieces: @escaping @Sendable () async throws -> Data?
    ) {
        self.client = client
        self.key = key
        self.checksum = checksum
        self.size = size
        self.pieces = pieces
    }

    /// Reads a small object, so that a wrong one is noticed before its length is reported.
    func begin() async throws {
        guard size <= Self.checkedBytes else { return }
        var whole = Data()
        while let piece = try await next() { whole += piece }
        held = whole.isEmpty ? nil : whole
    }

    func next() async throws -> Data? {
        if isAtEnd {
            defer { held = nil }
            return held
        }
        while true {
            guard let piece = try await receive() else {
                isAtEnd = true
                try check()
                defer { held = nil }
                return held
            }
            hash.update(data: piece)
            received += Int64(piece.count)
            if let ready = held {
                held = piece
                return ready
            }
            held = piece
        }
    }

    private func check() throws {
        guard received == size, Array(hash.finalize()) == checksum else {
            throw StorageError(
                .corrupt,
                "The object \(key) in the bucket \(client.settings.bucket), which has \(size) bytes, does "
                    + "not match its checksum; restore it from a backup, or upload it again"
            )
        }
    }

    /// Returns the next bytes, from another connection if this one was lost; nil at the end.
    private func receive() async throws -> Data? {
        var attempt = 0
        while true {
            do {
                if let piece = try await pieces() {
                    if piece.isEmpty { continue }
                    return piece
                }
                // Of a connection that ended early without an error.
                guard received < size else { return nil }
                throw S3Failure.lost("the response ended after \(received) of \(size) bytes")
            } catch {
                try Task.checkCancellation()
                if let error = error as? StorageError { throw error }
                attempt += 1
                guard attempt < client.retrying.attempts else {
                    throw client.error(
                        .lost("\(error)"),
                        S3Request(method: "GET", key: key, purpose: "read")
                    )
                }
                try await client.retrying.wait(attempt)
                guard received < size else { return nil }
                guard let rest = try await client.get(key, from: received) else {
                    throw StorageError(
                        .corrupt,
                        "The object \(key) in the bucket \(client.settings.bucket) was removed while it "
                            + "was read"
                    )
                }
                pieces = rest.next
            }
        }
    }
}
#endif
