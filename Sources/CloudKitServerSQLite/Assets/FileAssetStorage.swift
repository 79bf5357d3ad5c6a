import CloudKitBasics
public import CloudKitServerCore
import Crypto
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// An asset storage that keeps assets as files named after their SHA-256.
///
/// Bytes are written under a temporary name, synced, and then renamed, so that a file whose name is
/// a checksum is always complete. No part of a name ever comes from a client.
public final class FileAssetStorage: AssetStorage {
    private let directory: String
    private let isTemporary: Bool
    /// The folder, if servers share it; `nil` for a folder in that of the data.
    public let location: String?
    private let sync: @Sendable (_ folder: String) throws -> Void
    /// A lock that is held while a file is renamed or removed.
    private let names = Mutex(())

    /// Creates a storage in a directory, which is created if it is missing.
    ///
    /// - Throws: `StorageError` when the directory cannot be created.
    public convenience init(directory: String) throws {
        try self.init(directory: directory, sync: AssetFile.sync)
    }

    /// Creates a storage in an existing folder that servers on different machines share.
    ///
    /// - Throws: `StorageError` when there is no folder, or it cannot be used.
    package convenience init(sharedFolder path: String) throws {
        let folder = URL(fileURLWithPath: path).standardizedFileURL.path
        // Made here, the folder of a disk that is not mounted would be one that nobody shares.
        guard (try? FileManager.default.contentsOfDirectory(atPath: folder)) != nil else {
            throw StorageError(
                .inputOutput,
                "\(folder) is no folder that this user can read; make it, or mount it, on each machine"
            )
        }
        try self.init(
            directory: folder,
            isTemporary: false,
            location: folder,
            sync: AssetFile.sync
        )
        try removeRemains()
    }

    /// Creates a storage in a directory, with a function that makes the names in a folder durable.
    package convenience init(
        directory: String,
        sync: @escaping @Sendable (_ folder: String) throws -> Void
    ) throws {
        try self.init(directory: directory, isTemporary: false, sync: sync)
        try removeRemains()
    }

    /// Creates a storage in a new directory that is deleted with the storage; for tests.
    public static func temporary() throws -> FileAssetStorage {
        let name = "cloudkit-assets-" + UUID().uuidString
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        temporaries.withLock { _ = $0.insert(path) }
        _ = removesAtExit
        return try FileAssetStorage(directory: path, isTemporary: true, sync: AssetFile.sync)
    }

    private init(
        directory: String,
        isTemporary: Bool,
        location: String? = nil,
        sync: @escaping @Sendable (_ folder: String) throws -> Void
    ) throws {
        self.directory = directory
        self.sync = sync
        self.isTemporary = isTemporary
        self.location = location
        for folder in [directory, directory + "/incoming"] {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw StorageError(.inputOutput, "Cannot create the folder \(folder): \(error)")
            }
        }
    }

    deinit {
        guard isTemporary else { return }
        // What stays is temporary, and removed by the system.
        try? FileManager.default.removeItem(atPath: directory)
        Self.temporaries.withLock { _ = $0.remove(directory) }
    }

    /// The existing temporary directories.
    private static let temporaries = Mutex<Set<String>>([])

    /// Removes, when the process ends, the directories that connections keep in use until then.
    private static let removesAtExit: Void = {
        atexit {
            for path in FileAssetStorage.temporaries.withLock({ $0 }) {
                // Nobody is left to whom an error could be reported.
                try? FileManager.default.removeItem(atPath: path)
            }
        }
    }()

    /// Returns whether there is no asset.
    ///
    /// - Throws: An error of the system.
    package func isEmpty() throws -> Bool {
        let manager = FileManager.default
        return try manager.contentsOfDirectory(atPath: directory).allSatisfy { folder in
            try folder.count != 2
                || manager.contentsOfDirectory(atPath: "\(directory)/\(folder)")
                    .allSatisfy { Self.checksum(named: $0) == nil }
        }
    }

    /// Removes the incomplete uploads of processes that have ended; those of running processes are
    /// locked.
    private func removeRemains() throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: directory + "/incoming") {
            try AssetFile.removeUnlessLocked("\(directory)/incoming/\(name)")
        }
    }

    /// Stores bytes as they arrive; they are durable when it returns.
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
            // The error below is the one to report.
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// Opens stored bytes; returns `nil` if there are none with that checksum.
    ///
    /// Bytes that do not match the checksum end with an error: immediately if they fit into one
    /// piece, otherwise in place of the last piece.
    public func open(_ checksum: [UInt8]) async throws -> AssetContents? {
        guard let file = try AssetFile(opening: path(of: checksum)) else { return nil }
        let size = try file.size()
        var start = CheckedReading(file, size: size, checksum: checksum)
        try start.begin()
        let reading = Mutex(start)
        let chunks = AsyncThrowingStream<Data, any Error> {
            try reading.withLock { try $0.next() }
        }
        return AssetContents(size: size, chunks: chunks)
    }

    /// Removes the stored bytes of a checksum, if they exist and are older than a time.
    public func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws {
        let path = path(of: checksum)
        // The date is read under the lock: an upload of the same bytes may rename a new file to the
        // name.
        try names.withLock { _ in
            // A file that does not exist is not removed.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let date = attributes?[.modificationDate] as? Date,
                Int64(date.timeIntervalSince1970 * 1000) < milliseconds
            else { return }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Removes unused stored bytes that are older than a time.
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

    /// Syncs a file and renames it, away from the threads that serve requests.
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
                    with: Result { try self.keepNow(file, temporary, as: path, in: folder) }
                )
            }
        }
    }

    private func keepNow(
        _ file: AssetFile,
        _ temporary: String,
        as path: String,
        in folder: String
    ) throws {
        let manager = FileManager.default
        if !manager.fileExists(atPath: folder) {
            try manager.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            // The folder's own name must survive a power failure too.
            try sync(directory)
        }
        // The bytes first: a name must not survive a power failure that its bytes do not.
        try file.sync(temporary)
        try names.withLock { _ in try AssetFile.rename(temporary, to: path) }
        try sync(folder)
    }

    private func path(of checksum: [UInt8]) -> String {
        let name = Self.name(of: checksum)
        return "\(directory)/\(name.prefix(2))/\(name)"
    }

    static func name(of checksum: [UInt8]) -> String {
        Hexadecimal.text(checksum)
    }

    static func checksum(named name: String) -> [UInt8]? {
        name.utf8.count == 64 ? Hexadecimal.bytes(name) : nil
    }
}

/// Reads a file that is named after its checksum; the last piece is returned only if all pieces match it.
private struct CheckedReading {
    private static let pieceBytes = 64 * 1024

    private let file: AssetFile
    private let checksum: [UInt8]
    private var hash = SHA256()
    private let size: Int64
    private var left: Int64
    private var first: Data?
    private var isAtEnd = false

    init(_ file: AssetFile, size: Int64, checksum: [UInt8]) {
        self.file = file
        self.checksum = checksum
        self.size = size
        left = size
    }

    /// Checks a file of one piece before its length is reported.
    mutating func begin() throws {
        guard size <= Self.pieceBytes else { return }
        first = try next()
    }

    mutating func next() throws -> Data? {
        if let first {
            self.first = nil
            return first
        }
        if isAtEnd { return nil }
        let piece = try read()
        hash.update(data: piece)
        left -= Int64(piece.count)
        guard left <= 0 || piece.isEmpty else { return piece }
        isAtEnd = true
        guard left == 0, Array(hash.finalize()) == checksum else {
            throw StorageError(
                .corrupt,
                "The file of the asset \(FileAssetStorage.name(of: checksum)), which has \(size) bytes, "
                    + "does not match its checksum; restore it from a backup, or upload it again"
            )
        }
        return piece.isEmpty ? nil : piece
    }

    private func read() throws -> Data {
        do {
            return try file.read(Self.pieceBytes) ?? Data()
        } catch let error as StorageError {
            throw StorageError(
                error.code,
                "The file of the asset \(FileAssetStorage.name(of: checksum)) cannot be read to its end "
                    + "(\(error.message)); restore it from a backup, or upload it again"
            )
        }
    }
}
