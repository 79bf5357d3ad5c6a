import CloudKitServerCore
import Crypto
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes all data of a server's folder to a tar archive while the server may continue to run.
///
/// The database is copied in the state of a single moment. The files of its assets follow; if one
/// of them is removed before it was read, the backup starts again.
package struct Backup {
    /// A summary of the written archive.
    package struct Report: Hashable, Sendable, Codable {
        /// The number of asset files.
        package var assets = 0
        /// The size of the archive in bytes.
        package var bytes: Int64 = 0
        /// The checksums of assets that records hold and whose files are missing or damaged.
        package var damaged: [String] = []
    }

    private static let attempts = 3
    private static let pieceBytes = 1 << 20

    private let folder: String

    /// Prepares a backup of a folder.
    package init(of folder: String) {
        self.folder = folder
    }

    /// Writes the archive, reads it again to verify it, and renames it to its final name.
    ///
    /// - Parameters:
    ///   - path: The archive; an existing one is replaced once the new one is complete.
    ///   - seconds: The time, since 1970-01-01 UTC.
    /// - Returns: A summary of the archive.
    /// - Throws: `StorageError`, or `BackupError`; no archive is written then.
    @concurrent
    package func write(to path: String, seconds: Int64) async throws -> Report {
        let target = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: target) else {
            throw BackupError("\(target) is no folder that this user may write to; name another")
        }
        let part = path + ".part"
        let copy = part + ".sqlite"
        defer {
            // After a success there is nothing to remove.
            for name in [part, copy] { try? FileManager.default.removeItem(atPath: name) }
        }
        var report = Report()
        for _ in 0..<Self.attempts {
            try Task.checkCancellation()
            let needed = try await copyDatabase(to: copy)
            let found = try write(copy, to: part, seconds)
            let missing = needed.subtracting(found)
            report.assets = found.count
            report.damaged = missing.map { FileAssetStorage.name(of: $0) }.sorted()
            if missing.isEmpty { break }
        }
        let reader = try BackupReader(path: part)
        report.damaged += try reader.verify().map { FileAssetStorage.name(of: $0) }
        report.bytes = reader.bytes
        try AssetFile.publish(part, as: path)
        return report
    }

    /// Copies the database; returns the assets that records in the copy hold.
    private func copyDatabase(to copy: String) async throws -> Set<[UInt8]> {
        // Of an earlier attempt; without one, there is nothing to remove.
        try? FileManager.default.removeItem(atPath: copy)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            let source = try DatabaseQueue(
                path: "\(folder)/\(BackupNames.database)",
                configuration: configuration
            )
            // It is only read; nothing can be lost.
            defer { try? source.close() }
            try await source.writeWithoutTransaction { database in
                try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
            }
            let target = try DatabaseQueue(path: copy, configuration: configuration)
            // As above.
            defer { try? target.close() }
            let held = try await target.read { try SQLiteConnection($0).heldAssets() }
            return Set(held.map { Array($0) })
        } catch {
            throw StorageError(error)
        }
    }

    /// Writes an archive; returns the assets in it.
    private func write(_ copy: String, to part: String, _ seconds: Int64) throws -> Set<[UInt8]> {
        // As for the copy: only an earlier attempt leaves one.
        try? FileManager.default.removeItem(atPath: part)
        let file = try AssetFile(creating: part)
        var hash = SHA256()
        let size = try Self.forEachPiece(of: Self.open(copy)) { hash.update(data: $0) }
        let manifest = try BackupManifest(
            created: seconds * 1000,
            databaseBytes: size,
            databaseChecksum: Data(hash.finalize())
        ).encoded
        let entry = TarEntry(name: BackupManifest.name, size: Int64(manifest.count))
        try file.write(entry.header(seconds: seconds) + manifest + Data(count: entry.padding))
        let database = TarEntry(name: BackupNames.database, size: size)
        try append(database, Self.open(copy), to: file, seconds)
        var found: Set<[UInt8]> = []
        for checksum in assets() {
            let name = BackupNames.asset(checksum)
            // An asset that is no longer needed may be removed at any moment.
            guard let asset = try AssetFile(opening: "\(folder)/\(name)") else { continue }
            try append(TarEntry(name: name, size: asset.size()), asset, to: file, seconds)
            found.insert(checksum)
        }
        try file.write(Data(count: 2 * TarEntry.block))
        try file.sync(part)
        return found
    }

    private static func open(_ path: String) throws -> AssetFile {
        guard let file = try AssetFile(opening: path) else {
            throw BackupError("\(path): there is no file that can be read")
        }
        return file
    }

    /// Returns the assets whose files exist.
    private func assets() -> [[UInt8]] {
        let manager = FileManager.default
        // Without assets there is no folder; a missing file of a record is found below.
        let folders = (try? manager.contentsOfDirectory(atPath: folder + "/assets")) ?? []
        return folders.filter { $0.count == 2 }.sorted().flatMap { part in
            // As above.
            let names = try? manager.contentsOfDirectory(atPath: "\(folder)/assets/\(part)")
            return (names ?? []).sorted().compactMap { FileAssetStorage.checksum(named: $0) }
        }
    }

    private func append(
        _ entry: TarEntry,
        _ source: AssetFile,
        to file: AssetFile,
        _ seconds: Int64
    ) throws {
        try file.write(entry.header(seconds: seconds))
        let size = try Self.forEachPiece(of: source) { try file.write($0) }
        guard size == entry.size else {
            throw BackupError("\(entry.name) changed while it was read; run the backup again")
        }
        try file.write(Data(count: entry.padding))
    }

    @discardableResult
    private static func forEachPiece(
        of file: AssetFile,
        _ body: (Data) throws -> Void
    ) throws -> Int64 {
        var size: Int64 = 0
        while let piece = try file.read(pieceBytes) {
            try body(piece)
            size += Int64(piece.count)
        }
        return size
    }
}
