package import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All data in the database of a server's folder, for copies from one engine to another.
package final class SQLiteData: DataStore {
    package let name: String
    private let queue: DatabaseQueue

    /// Opens the database of a folder, which no server may use meanwhile, to copy its data.
    ///
    /// - Throws: `StorageError`, or `BackupError` for a damaged database, and for one of another version.
    package static func source(_ folder: String) throws -> SQLiteData {
        let path = "\(folder)/\(BackupNames.database)"
        try Backup.checkIsNotMarked(path)
        return try SQLiteData(folder, path) { database in
            try Backup.check(database, path)
            try SQLiteFile.refuseNewer(database, path)
            try Backup.refuseOlder(database, path)
        }
    }

    /// Opens or creates the database of a folder, to copy data to it.
    ///
    /// - Parameter folder: The folder, which is created if it is missing; it must be empty, or have an
    ///   unfinished copy.
    /// - Returns: The data.
    /// - Throws: `StorageError`, or `BackupError` for a folder with other files.
    package static func target(_ folder: String) throws -> SQLiteData {
        let path = "\(folder)/\(BackupNames.database)"
        if !FileManager.default.fileExists(atPath: path) { try Restore.make(folder) }
        try SQLiteFile.prepare(path)
        return try SQLiteData(folder, path) { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // The copy is complete only once the end of it is durable: see close.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            let found = try SQLiteConnection(database).setting(CopyState.setting)
            let rows = try SQLiteConnection(database).rows("SELECT 1 FROM setting LIMIT 1")
            guard found != nil || rows.isEmpty else {
                throw BackupError(
                    "\(folder) has the data of a server; choose a new folder, or move its contents away"
                )
            }
        }
    }

    private init(
        _ folder: String,
        _ path: String,
        prepare: (Database) throws -> Void
    ) throws {
        name = folder
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction(prepare)
        } catch let error as BackupError {
            throw error
        } catch {
            throw StorageError(error, opening: path)
        }
    }

    package func read<Value>(_ body: (any DataReader) throws -> Value) throws -> Value {
        try use { database in
            var value: Value?
            try database.inTransaction(.deferred) {
                value = try body(SQLiteDataReader(database))
                // The tables of the reader are not needed any longer.
                return .rollback
            }
            guard let value else { throw StorageError(.other, "A transaction has no result") }
            return value
        }
    }

    package func write(_ body: (any DataWriter) throws -> Void) throws {
        try use { database in
            try database.inTransaction(.immediate) {
                try body(SQLiteDataWriter(database))
                return .commit
            }
        }
    }

    package func close() throws {
        try use { database in
            let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
            if mode == "wal" { _ = try database.checkpoint(.truncate) }
        }
        do {
            try queue.close()
        } catch {
            throw StorageError(error)
        }
    }

    private func use<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try queue.writeWithoutTransaction(body)
        } catch let error as DatabaseError {
            throw StorageError(error, writing: name)
        }
    }
}

/// The tables of SQLite that have the rows of a table of all engines.
struct SQLiteDataTable {
    let table: DataTable

    /// The name of the rows' own table; a snapshot's is preceded by its number.
    var name: String { Self.camelCase(original) }

    /// The name of the table, or of the one of whose rows this table has those of snapshots.
    private var original: String { table.original ?? table.name }

    /// `true` when the rows are in the content of a zone.
    var isContent: Bool {
        ["record", "index_entry", "reference", "asset", "sighting"].contains(original)
    }

    var isZone: Bool { original == "zone" }

    /// Returns the name of the column with a column's values.
    static func name(of column: DataTable.Column) -> String { camelCase(column.name) }

    private static func camelCase(_ name: String) -> String {
        // The table of users, and the column that names one, have another name.
        if name == "account" { return "user" }
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words[0])) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

extension DataTable.Column {
    /// The placeholder of a value in SQL.
    ///
    /// Text is given as its bytes, because a value with U+0000 would end there; the binding of no bytes
    /// would be NULL.
    var mark: String {
        switch kind {
        case .integer, .flag: "?"
        case .text: "CAST(? AS TEXT)"
        case .bytes: "CAST(? AS BLOB)"
        }
    }
}

extension DataValue {
    /// The value for a placeholder.
    var argument: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .bytes(let bytes): bytes.isEmpty ? "" : bytes
        }
    }
}
