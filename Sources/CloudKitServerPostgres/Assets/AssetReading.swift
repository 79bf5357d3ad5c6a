#if PostgreSQL
import CloudKitBasics
import CloudKitServerCore
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the chunks of a file, one when it is asked for; the last is returned only if all of them match the
/// checksum.
///
/// No connection waits between two chunks. Where the set of chunks was replaced meanwhile by another one
/// with the same bytes, that one is read on.
actor AssetReading {
    private let storage: PostgresStorage
    private var file: AssetFile
    private var hash = SHA256()
    private var place: Int64 = 0
    /// The only piece of a small file, which was checked before.
    private var ready: Data?

    init(_ file: AssetFile, _ storage: PostgresStorage) {
        self.file = file
        self.storage = storage
    }

    /// Checks a file of one chunk, so that a wrong one is noticed before its length is reported.
    func begin() async throws {
        if file.size == 0 { try check() }
        guard file.size <= Int64(PostgresTransaction.chunkBytes) else { return }
        var whole = Data()
        while let piece = try await next() { whole += piece }
        ready = whole.isEmpty ? nil : whole
    }

    func next() async throws -> Data? {
        if let piece = ready {
            ready = nil
            return piece
        }
        guard place < file.size else { return nil }
        let piece = try await read()
        hash.update(data: piece)
        place += Int64(piece.count)
        if place >= file.size { try check() }
        return piece
    }

    private func read() async throws -> Data {
        if let bytes = file.bytes, !bytes.isEmpty {
            file.bytes = nil
            return bytes
        }
        while true {
            let (upload, place) = (file.upload, place)
            let piece = try await storage.runOnAssets { transaction in
                try transaction.chunk(of: upload, from: place)
            }
            if let piece { return piece }
            let checksum = file.checksum
            let now = try await storage.runOnAssets { try $0.file(checksum) }
            guard let now else {
                throw StorageError(.other, "The asset \(name) was removed while it was read")
            }
            guard now.upload != upload, now.size == file.size else { throw wrong }
            file.upload = now.upload
        }
    }

    private func check() throws {
        guard place == file.size, hash.finalize().elementsEqual(file.checksum) else { throw wrong }
    }

    private var name: String { Hexadecimal.text(file.checksum) }

    private var wrong: StorageError {
        StorageError(
            .corrupt,
            "The chunks of the asset \(name) in PostgreSQL, which has \(file.size) bytes, do not match its "
                + "checksum; restore them from a backup, or upload it again"
        )
    }
}
#endif
