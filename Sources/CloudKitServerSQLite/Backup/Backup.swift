import CloudKitFiles
package import CloudKitServerCore
import Crypto
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes all data of a server's folder to a tar archive while the server may continue to run.
///
/// The database is checked, and copied in the state of a single moment. The files of its assets
/// follow; if one of them is removed before it was read, the backup starts again.
package struct Backup {
    /// A summary of an archive.
    package struct Report: Hashable, Sendable, Codable {
        /// The number of asset files.
        package var assets = 0
        /// The size of the archive in bytes.
        package var bytes: Int64 = 0
        /// The checksums of assets that records hold and whose files are missing or damaged, or
        /// cannot be read to their end.
        package var damaged: [String] = []
        /// The records whose rows do not match their checksums.
        package var damagedRecords = DamagedRecords()
        /// The problems of other rows, in the words of a check.
        package var problems: [String] = []
        /// `false` when the archive was not kept, because it would have replaced an earlier one and
        /// has damaged parts.
        package var isKept = true

        /// `true` when everything in the archive is as the server stored it.
        package var isGood: Bool { damaged.isEmpty && damagedRecords.isEmpty && problems.isEmpty }
    }

    private static let attempts = 3
    private static let pieceBytes = 1 << 20

    private let folder: String
    /// The storage of assets that are not in the folder.
    private let storage: (any AssetStorage)?
    /// A closure that copies the database from elsewhere, again for each attempt.
    private let renew: @Sendable () async throws -> Void
    private let beforeRead: @Sendable (_ path: String) throws -> Void

    /// Prepares a backup of a folder.
    ///
    /// - Parameters:
    ///   - folder: The server's folder.
    ///   - storage: The storage of its assets; nil for files in the folder.
    ///   - renew: A closure that copies the database into the folder from elsewhere, if it does not belong
    ///     there.
    ///   - beforeRead: A closure that is called before each piece of a file is read, and may fail as
    ///     the disk would.
    package init(
        of folder: String,
        assets storage: (any AssetStorage)? = nil,
        renewing renew: @escaping @Sendable () async throws -> Void = {},
        beforeRead: @escaping @Sendable (_ path: String) throws -> Void = { _ in }
    ) {
        self.folder = folder
        self.storage = storage
        self.renew = renew
        self.beforeRead = beforeRead
    }

    /// Returns whether a file is an archive of a backup, complete or not.
    package static func isArchive(_ path: String) -> Bool {
        // What cannot be read is none.
        (try? BackupReader(path: path))?.isArchive() ?? false
    }

    /// Writes the archive, reads it again to verify it, and renames it to its final name.
    ///
    /// An existing archive is replaced by one that is good: a damaged one is kept only under a new name.
    ///
    /// - Parameters:
    ///   - path: The archive.
    ///   - replaces: A Boolean value that indicates whether an existing archive may be replaced, also
    ///     one that another process made meanwhile.
    ///   - seconds: The time, since 1970-01-01 UTC.
    /// - Returns: A summary of the archive.
    /// - Throws: `StorageError`, or `BackupError`, such as for a damaged database; no archive is
    ///   written then, and an existing one stays.
    @concurrent
    package func write(
        to path: String,
        replaces: Bool = true,
        seconds: Int64
    ) async throws -> Report {
        do {
            return try await writeAndVerify(path, replaces, seconds)
        } catch let error as StorageError where error.code == .full {
            throw BackupError(
                "The disk of \(path) is full (\(error.message)), so nothing was written; make room "
                    + "there, or name a file on another disk"
            )
        }
    }

    private func writeAndVerify(
        _ path: String,
        _ replaces: Bool,
        _ seconds: Int64
    ) async throws -> Report {
        let work = try Self.folder(beside: path)
        defer { work.remove() }
        let part = work.url.path + "/backup.tar"
        let copy = "\(work.url.path)/\(BackupNames.database)"
        var report = Report()
        for _ in 0..<Self.attempts {
            try await renew()
            let contents = try await copyDatabase(to: copy)
            let found = try await write(copy, contents.assets, to: part, seconds)
            let missing = contents.assets.subtracting(found)
            report.damagedRecords = contents.damagedRecords
            report.problems = contents.problems
            report.assets = found.count
            report.damaged = missing.map { FileAssetStorage.name(of: $0) }.sorted()
            if missing.isEmpty { break }
        }
        let reader = try BackupReader(path: part)
        report.damaged += try await reader.verify().map { FileAssetStorage.name(of: $0) }
        report.bytes = reader.bytes
        report.isKept = report.isGood || !FileManager.default.fileExists(atPath: path)
        guard report.isKept else { return report }
        if replaces {
            try AssetFile.publish(part, as: path)
        } else if try !AssetFile.publish(part, asNew: path) {
            throw BackupError(
                "\(path) was made by another program meanwhile, and is left as it is; give another name, "
                    + "or --force to replace it"
            )
        }
        return report
    }

    /// Returns a private folder beside an archive for its parts, so that they can be renamed to it.
    static func folder(beside path: String) throws -> ProcessFolder {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            return try ProcessFolder(in: folder, named: BackupNames.folders)
        } catch {
            throw BackupError(
                "\(folder.path) is no folder that this user may write to; name another"
            )
        }
    }

    /// Lets a signal end the work, even on a machine with one core.
    static func pause() async throws {
        try Task.checkCancellation()
        await Task.yield()
    }

    /// The contents of the copy of a database.
    private struct Contents {
        var assets: Set<[UInt8]>
        var damagedRecords: DamagedRecords
        var problems: [String]
    }

    /// Checks the database, copies it, and checks the copy.
    private func copyDatabase(to copy: String) async throws -> Contents {
        // Of an earlier attempt; without one, there is nothing to remove.
        try? FileManager.default.removeItem(atPath: copy)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            let path = "\(folder)/\(BackupNames.database)"
            try Self.checkIsNotMarked(path)
            let source = try DatabaseQueue(path: path, configuration: configuration)
            // It is only read; nothing can be lost.
            defer { try? source.close() }
            // A copy can be sound although rows of a damaged table are missing in it.
            try await source.read { database in
                try Self.check(database, path)
                try SQLiteFile.refuseNewer(database, path)
                try Self.refuseOlder(database, path)
                guard try SQLiteConnection(database).setting(CopyState.setting) == nil else {
                    throw CopyState.refusal(of: path)
                }
            }
            // SQLite accepts an empty file, which only its owner can read.
            _ = try AssetFile(creating: copy)
            try await source.writeWithoutTransaction { database in
                // A copy of a single moment, during which the server may write.
                try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
            }
            let target = try DatabaseQueue(path: copy, configuration: configuration)
            // As above.
            defer { try? target.close() }
            return try await target.read { database in
                try Self.check(database, path)
                let connection = SQLiteConnection(database)
                return Contents(
                    assets: Set(try connection.heldAssets().map { Array($0) }),
                    damagedRecords: try connection.damagedRecords(),
                    problems: try RowCheck.findings(connection).map(\.problem)
                )
            }
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }

    /// Refuses a database that counts as damaged: SQLite does not miss the rows that an unfinished
    /// repair has yet to derive, and the mark would not be in the backup.
    static func checkIsNotMarked(_ path: String) throws {
        let note = DamageNote(besideDatabase: path)
        note.read()
        guard let damage = note.text else { return }
        throw BackupError(
            "\(path) is damaged (\(damage)), so nothing was written; cloudkit check --repair corrects "
                + "it, or changes nothing; restore the last backup then"
        )
    }

    /// Refuses a database without tables, or without those of this version.
    static func refuseOlder(_ database: Database, _ path: String) throws {
        let migrator = SQLiteTables.migrator
        guard try !migrator.hasCompletedMigrations(database) else { return }
        let isOurs = try migrator.appliedIdentifiers(database).contains("1")
        throw BackupError(
            isOurs
                ? "\(path) was written by an earlier version of cloudkit; back it up with that version, "
                    + "or start cloudkit serve on it once, which brings it up to date"
                : "\(path) is empty, or not a database of cloudkit; name another folder with --data, or "
                    + "restore a backup"
        )
    }

    static func check(_ database: Database, _ path: String) throws {
        let problems = try SQLiteConnection(database).fileProblems()
        guard let problem = problems.first else { return }
        let remedy =
            problems.allSatisfy(\.isDerived)
            ? "cloudkit check --repair rebuilds it"
            : "cloudkit check --repair corrects it, or changes nothing; restore the last backup then"
        throw BackupError(
            "\(path) is damaged (\(problem.text)), so nothing was written; \(remedy)"
        )
    }

    /// Writes an archive; returns the assets in it.
    private func write(
        _ copy: String,
        _ held: Set<[UInt8]>,
        to part: String,
        _ seconds: Int64
    ) async throws -> Set<[UInt8]> {
        // As for the copy: only an earlier attempt leaves one.
        try? FileManager.default.removeItem(atPath: part)
        let file = try AssetFile(creating: part)
        var hash = SHA256()
        let size = try await Self.forEachPiece(of: Self.open(copy)) { hash.update(data: $0) }
        let manifest = try BackupManifest(
            created: seconds * 1000,
            databaseBytes: size,
            databaseChecksum: Data(hash.finalize())
        ).encoded
        let entry = TarEntry(name: BackupManifest.name, size: Int64(manifest.count))
        try file.write(entry.header(seconds: seconds) + manifest + Data(count: entry.padding))
        let database = TarEntry(name: BackupNames.database, size: size)
        guard try await append(database, Self.open(copy), to: file, seconds) else {
            throw BackupError("\(copy) cannot be read to its end; run the backup again")
        }
        // After the database: an asset that is uploaded meanwhile is not in it, and is not needed.
        let found: Set<[UInt8]>
        if let storage {
            found = try await write(held, of: storage, to: file, seconds)
        } else {
            found = try await writeFiles(to: file, seconds)
        }
        try file.write(Data(count: 2 * TarEntry.block))
        try file.sync(part)
        return found
    }

    /// Writes the files of assets in the folder; returns the assets.
    private func writeFiles(to file: AssetFile, _ seconds: Int64) async throws -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for checksum in assets() {
            let name = BackupNames.asset(checksum)
            // An asset that is no longer needed may be removed at any moment, and one that cannot be
            // read, also midway, is missing in the report.
            guard let asset = AssetFile(readable: "\(folder)/\(name)"),
                try await append(TarEntry(name: name, size: asset.size()), asset, to: file, seconds)
            else { continue }
            found.insert(checksum)
        }
        return found
    }

    /// Writes the assets of a storage; returns those that exist.
    private func write(
        _ held: Set<[UInt8]>,
        of storage: any AssetStorage,
        to file: AssetFile,
        _ seconds: Int64
    ) async throws -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for checksum in held.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            do {
                guard let contents = try await storage.open(checksum) else { continue }
                let entry = TarEntry(name: BackupNames.asset(checksum), size: contents.size)
                try file.write(entry.header(seconds: seconds))
                let size = try await Self.write(contents, to: file)
                // The verification finds what a damaged one lacks.
                for start in stride(from: size, to: contents.size, by: Self.pieceBytes) {
                    let count = min(Int64(Self.pieceBytes), contents.size - start)
                    try file.write(Data(count: Int(count)))
                }
                try file.write(Data(count: entry.padding))
                found.insert(checksum)
            } catch let error as StorageError where error.isDamage {
                // One that is damaged from its beginning is missing in the report.
            }
        }
        return found
    }

    /// Writes the bytes of an asset up to damage; returns their number.
    private static func write(_ contents: AssetContents, to file: AssetFile) async throws -> Int64 {
        var size: Int64 = 0
        do {
            for try await piece in contents.chunks {
                try await pause()
                try file.write(piece)
                size += Int64(piece.count)
            }
        } catch let error as StorageError where error.isDamage {
            // What was written stays in the archive.
        }
        return size
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

    /// Appends a file; returns `false` for one that cannot be read to its end, of which the archive has
    /// nothing then.
    private func append(
        _ entry: TarEntry,
        _ source: AssetFile,
        to file: AssetFile,
        _ seconds: Int64
    ) async throws -> Bool {
        let start = try file.size()
        try file.write(entry.header(seconds: seconds))
        var left = entry.size
        while left > 0 {
            try await Self.pause()
            let count = Int(min(left, Int64(Self.pieceBytes)))
            // A damaged disk, or a file that has become shorter, costs the backup this file alone.
            guard let piece = try? read(count, of: source, entry.name) else {
                try file.cut(to: start)
                return false
            }
            try file.write(piece)
            left -= Int64(piece.count)
        }
        try file.write(Data(count: entry.padding))
        return true
    }

    private func read(_ count: Int, of file: AssetFile, _ name: String) throws -> Data? {
        try beforeRead("\(folder)/\(name)")
        return try file.read(count)
    }

    private static func forEachPiece(
        of file: AssetFile,
        _ body: (Data) throws -> Void
    ) async throws -> Int64 {
        var size: Int64 = 0
        while let piece = try file.read(pieceBytes) {
            try await pause()
            try body(piece)
            size += Int64(piece.count)
        }
        return size
    }
}
