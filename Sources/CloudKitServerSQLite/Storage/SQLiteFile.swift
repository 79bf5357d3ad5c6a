import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The database file of a storage before it is opened: newly created, or checked.
enum SQLiteFile {
    /// Creates the database if there is none, and refuses a file that does not belong to this service.
    ///
    /// A new database gets its tables under another name, so that an interrupted process leaves no
    /// incomplete one: an empty file was emptied by something else.
    ///
    /// - Parameter path: The file.
    /// - Throws: `StorageError`.
    static func prepare(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { return try make(path) }
        guard status.st_size > 0 else {
            throw StorageError(
                .corrupt,
                "\(path) is empty, and not a database of this service; restore it from a backup, or "
                    + "move it away to start over"
            )
        }
        guard try isOurs(path) else {
            throw StorageError(
                .corrupt,
                "\(path) is not a database of this service, and is left unchanged; choose another folder, or "
                    + "move it away"
            )
        }
    }

    private static func isOurs(_ path: String) throws -> Bool {
        do {
            // Not read-only, because the journal of a killed process belongs to the database.
            return try DatabaseQueue(path: path, configuration: configuration).read { database in
                guard try database.tableExists("grdb_migrations") else { return false }
                try refuseNewer(database, path)
                return try SQLiteTables.migrator.appliedIdentifiers(database).contains("1")
            }
        } catch let error as StorageError {
            throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            return false
        } catch {
            throw StorageError(error, opening: path)
        }
    }

    /// Refuses a database that a newer version of this service has changed.
    ///
    /// - Throws: `StorageError`.
    static func refuseNewer(_ database: Database, _ path: String) throws {
        guard try SQLiteTables.migrator.hasBeenSuperseded(database) else { return }
        throw StorageError(
            .corrupt,
            "\(path) was written by a newer version of cloudkit, which this one cannot read; nothing "
                + "was changed: use that version again, or restore a backup from before the upgrade"
        )
    }

    /// Refuses a database with a copy of other data that has not ended.
    ///
    /// - Throws: `StorageError`.
    static func refuseUnfinished(_ database: some DatabaseWriter, _ path: String) throws {
        let isUnfinished = try database.writeWithoutTransaction {
            try SQLiteConnection($0).setting(CopyState.setting) != nil
        }
        if isUnfinished { throw CopyState.refusal(of: path) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return configuration
    }

    /// Creates the database with its tables, readable by its owner only.
    private static func make(_ path: String) throws {
        let new = "\(path).\(UUID().uuidString).new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make", path) }
        close(descriptor)
        defer {
            unlink(new)
            unlink(new + "-journal")
        }
        do {
            let queue = try DatabaseQueue(path: new, configuration: configuration)
            try SQLiteTables.migrator.migrate(queue)
            try queue.close()
        } catch {
            throw StorageError(error, opening: path)
        }
        // Another process may have been first: its database is kept.
        guard link(new, path) == 0 || errno == EEXIST else { throw failure("name", path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("open", folder) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw failure("sync", folder) }
    }

    /// Returns whether the disk of a file has no room for what SQLite keeps beside a database, which
    /// SQLite reports like a disk that fails.
    static func isDiskFull(of path: String) -> Bool {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        var disk = statvfs()
        guard statvfs(folder, &disk) == 0 else { return false }
        return UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < 128 << 10
    }

    private static func failure(_ verb: String, _ what: String) -> StorageError {
        let code: StorageError.Code = errno == ENOSPC || errno == EDQUOT ? .full : .inputOutput
        return StorageError(code, "Cannot \(verb) \(what): \(String(cString: strerror(errno)))")
    }
}
