package import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates a server's folder from an archive of `Backup`.
package struct Restore {
    /// A summary of what was restored.
    package struct Report: Hashable, Sendable {
        /// The checksums of assets that records hold and that are missing, and of those whose bytes do not
        /// match them, which are restored unchanged.
        package var damagedAssets: [String]
        /// The records whose rows do not match their checksums, which are restored unchanged.
        package var damagedRecords: DamagedRecords

        /// `true` when everything is as the server stored it.
        package var isGood: Bool { damagedAssets.isEmpty && damagedRecords.isEmpty }
    }

    private let archive: String

    /// Prepares to restore an archive.
    package init(of archive: String) {
        self.archive = archive
    }

    /// Restores the archive into a folder, and expires all change tokens of its containers because
    /// clients may hold newer tokens than the archive.
    ///
    /// The database is renamed to its final name last, so that an interrupted restore leaves
    /// nothing that a server would use as its data; a failed restore leaves the folder unchanged.
    ///
    /// - Parameter folder: The folder, which is created if it is missing; it must be empty, and
    ///   becomes private to its owner.
    /// - Returns: A summary.
    /// - Throws: `StorageError`, or `BackupError`.
    @concurrent
    package func run(into folder: String) async throws -> Report {
        let isNew = !FileManager.default.fileExists(atPath: folder)
        try Self.make(folder)
        do {
            return try await fill(folder)
        } catch {
            Self.empty(folder)
            // The error below is the one to report.
            if isNew { try? FileManager.default.removeItem(atPath: folder) }
            guard let failure = error as? StorageError, failure.code == .full else { throw error }
            throw BackupError(
                "The disk of \(folder) is full (\(failure.message)), so nothing was restored; make "
                    + "room there, or name a folder on another disk with --data"
            )
        }
    }

    private func fill(_ folder: String) async throws -> Report {
        let database = "\(folder)/\(BackupNames.database)"
        let part = database + ".part"
        var folders: Set<String> = []
        var found: Set<[UInt8]> = []
        let damaged = try await BackupReader(path: archive).read { content in
            guard case .asset(let checksum) = content else { return try AssetFile(creating: part) }
            found.insert(checksum)
            let path = "\(folder)/\(BackupNames.asset(checksum))"
            let own = String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
            if folders.insert(own).inserted { try Self.makeFolder(own) }
            return try AssetFile(creating: path)
        }
        let (held, records): (Set<[UInt8]>, DamagedRecords)
        do {
            (held, records) = try await expireTokens(part, folder)
        } catch let error as StorageError where error.code == .corrupt {
            // What cannot be opened came from the archive, which people know by its name.
            throw BackupError(error.message.replacing(part, with: "The database in \(archive)"))
        }
        for name in folders.union([folder + "/assets"]).sorted()
        where FileManager.default.fileExists(atPath: name) {
            try AssetFile.sync(name)
        }
        try AssetFile.publish(part, as: database)
        let assets = (held.subtracting(found) + damaged).map { FileAssetStorage.name(of: $0) }
        return Report(damagedAssets: assets.sorted(), damagedRecords: records)
    }

    /// Creates a folder, or makes an empty one private to its owner.
    static func make(_ folder: String) throws {
        try makeFolder(folder)
        // The error below names the folder.
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder)
        guard let found else { throw BackupError("\(folder) cannot be read") }
        guard found.isEmpty else {
            throw BackupError(
                "\(folder) is not empty; choose a new folder, or move its contents away"
            )
        }
        // An existing folder may be open to others.
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
    }

    private static func empty(_ folder: String) {
        // It is called after an error, which is the one to report.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    private static func makeFolder(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StorageError(
                .inputOutput,
                "\(path) cannot be created; choose a folder that this user may write to"
            )
        }
    }

    /// Expires the change tokens of a database; returns the assets that its records hold, and the records
    /// that are damaged.
    private func expireTokens(
        _ database: String,
        _ folder: String
    ) async throws -> (Set<[UInt8]>, DamagedRecords) {
        let storage = try SQLiteStorage(path: database)
        let service = CloudService(
            storage: storage,
            assets: try FileAssetStorage(directory: folder + "/assets"),
            clock: SystemClock(),
            randomness: SystemRandomness()
        )
        for container in try await service.containers() {
            try await service.expireChangeTokens(container: container)
        }
        let (held, damaged) = try await storage.read { reader -> ([Data], DamagedRecords) in
            guard let connection = reader as? SQLiteConnection else {
                return ([], DamagedRecords())
            }
            return (try connection.heldAssets(), try connection.damagedRecords())
        }
        try storage.close()
        // They are empty now, and would not be renamed with the database.
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: database + suffix)
        }
        return (Set(held.map { Array($0) }), damaged)
    }
}
