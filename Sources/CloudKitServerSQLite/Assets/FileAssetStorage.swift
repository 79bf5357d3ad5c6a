public import CloudKitServerCore
import Crypto
import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps assets as files that are named after their SHA-256.
///
/// Bytes go to a temporary name first, are synced, and get their name by a rename, so that a file
/// under a checksum is always whole. No part of a name ever comes from a client.
public final class FileAssetStorage: AssetStorage {
    private let directory: String
    private let isTemporary: Bool

    /// Keeps assets in a directory, which is made where it is missing.
    ///
    /// - Throws: `StorageError` when the directory cannot be made.
    public convenience init(directory: String) throws {
        try self.init(directory: directory, isTemporary: false)
    }

    /// Keeps assets in a new directory that goes with the storage; for tests.
    public static func temporary() throws -> FileAssetStorage {
        let name = "cloudkit-assets-" + UUID().uuidString
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        return try FileAssetStorage(directory: path, isTemporary: true)
    }

    private init(directory: String, isTemporary: Bool) throws {
        self.directory = directory
        self.isTemporary = isTemporary
        for folder in [directory, directory + "/incoming"] {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw StorageError(.inputOutput, "Cannot make the folder \(folder): \(error)")
            }
        }
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// Keeps bytes as they come; durable when it returns.
    public func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data {
        let temporary = directory + "/incoming/" + UUID().uuidString
        let file = try AssetFile(creating: temporary)
        do {
            var hash = SHA256()
            var size = 0
            for try await chunk in chunks {
                size += chunk.count
                guard size <= limit else { throw AssetTooLarge(limit: limit) }
                hash.update(data: chunk)
                try file.write(chunk)
            }
            let checksum = Array(hash.finalize())
            try await keep(file, temporary, under: checksum)
            return StoredAsset(checksum: checksum, size: Int64(size))
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// Opens kept bytes; nil when there are none of that checksum.
    public func open(_ checksum: [UInt8]) async throws -> AssetContents? {
        guard let file = try AssetFile(opening: path(of: checksum)) else { return nil }
        let chunks = AsyncThrowingStream<Data, any Error> { try file.read(64 * 1024) }
        return AssetContents(size: try file.size(), chunks: chunks)
    }

    /// Removes kept bytes that are older than a time and that nothing needs.
    public func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws {
        let manager = FileManager.default
        for folder in try manager.contentsOfDirectory(atPath: directory) where folder.count == 2 {
            for name in try manager.contentsOfDirectory(atPath: "\(directory)/\(folder)") {
                let path = "\(directory)/\(folder)/\(name)"
                guard let checksum = Self.checksum(named: name),
                    let date = try manager.attributesOfItem(atPath: path)[.modificationDate]
                        as? Date,
                    Int64(date.timeIntervalSince1970 * 1000) < milliseconds,
                    try await !isNeeded(checksum)
                else { continue }
                try manager.removeItem(atPath: path)
            }
        }
    }

    /// Syncs a file and gives it its name, away from the threads that answer requests.
    private func keep(
        _ file: AssetFile,
        _ temporary: String,
        under checksum: [UInt8]
    ) async throws {
        let path = path(of: checksum)
        let folder = String(path.dropLast(65))
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try FileManager.default.createDirectory(
                            atPath: folder,
                            withIntermediateDirectories: true,
                            attributes: [.posixPermissions: 0o700]
                        )
                        try file.keep(temporary, as: path)
                    }
                )
            }
        }
    }

    private func path(of checksum: [UInt8]) -> String {
        let name = checksum.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(directory)/\(name.prefix(2))/\(name)"
    }

    private static func checksum(named name: String) -> [UInt8]? {
        guard name.utf8.count == 64 else { return nil }
        let digits = Array(name)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
        return bytes.count == 32 ? bytes : nil
    }
}
