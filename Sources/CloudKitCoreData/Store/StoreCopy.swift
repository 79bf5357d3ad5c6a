import Foundation
import GRDB

/// A copy of a store's files, which is read instead of the originals.
///
/// SQLite writes beside a database even when it only reads: it creates the index of the write-ahead
/// log, and may checkpoint the log. A store that an app will open again is never touched.
final class StoreCopy: Sendable {
    /// The companion files of a database, by their suffixes.
    ///
    /// The log's index is created again.
    private static let companions = ["-wal", "-journal"]

    private let folder: URL
    /// The store's name.
    let name: String
    /// The copy.
    let database: DatabaseQueue
    /// A sentence for a store whose latest changes may be missing, because its log is not beside it or is damaged; nil
    /// for another store.
    let logNote: String?

    /// Creates a copy of a store and opens it.
    ///
    /// - Throws: ``CoreDataModelError`` for a file that is missing, that is not a database, or that
    ///   changes while it is copied.
    init(of url: URL) throws(CoreDataModelError) {
        let url = url.resolvingSymlinksInPath()
        let name = url.lastPathComponent
        self.name = name
        do {
            folder = try FileManager.default.url(
                for: .itemReplacementDirectory,
                in: .userDomainMask,
                appropriateFor: FileManager.default.temporaryDirectory,
                create: true
            )
        } catch {
            throw CoreDataModelError(
                .unreadable,
                name,
                "no folder can be created for a copy: \(error)"
            )
        }
        do {
            try Self.copy(url, to: folder)
            let file = folder.appendingPathComponent(name)
            logNote = Self.missingLog(of: file) ?? WriteAheadLog.note(on: file)
            var configuration = Configuration()
            configuration.label = "CoreDataStore"
            // Dangling references in a store are found when rows are read.
            configuration.foreignKeysEnabled = false
            configuration.prepareDatabase { database in
                // The file may be untrusted: its schema cannot run functions, and a damaged page is
                // an error before it is read.
                try database.execute(
                    sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"
                )
            }
            database = try DatabaseQueue(
                path: folder.appendingPathComponent(name).path,
                configuration: configuration
            )
        } catch {
            // The error below is the one to report.
            try? FileManager.default.removeItem(at: folder)
            if let error = error as? CoreDataModelError { throw error }
            throw Self.failure(name, error)
        }
    }

    deinit {
        // The copy is only read; what stays of it is temporary.
        try? database.close()
        try? FileManager.default.removeItem(at: folder)
    }

    static func failure(_ name: String, _ error: any Error) -> CoreDataModelError {
        CoreDataModelError(
            .unreadable,
            name,
            "this is not a readable store: \(message(error))"
        )
    }

    static func message(_ error: any Error) -> String {
        (error as? DatabaseError)?.message ?? (error as? CocoaError)?.localizedDescription
            ?? "\(error)"
    }

    // MARK: Copying

    private struct State: Hashable {
        var size: Int?
        var date: Date?
    }

    private static func state(_ url: URL) -> [State] {
        ([""] + companions).map { suffix in
            // A new URL, because a URL caches its resource values.
            let values = try? URL(fileURLWithPath: url.path + suffix).resourceValues(
                forKeys: [.fileSizeKey, .contentModificationDateKey]
            )
            return State(size: values?.fileSize, date: values?.contentModificationDate)
        }
    }

    private static func copy(_ url: URL, to folder: URL) throws {
        let name = url.lastPathComponent
        // The error below names the file.
        let values = try? url.resourceValues(forKeys: [.isRegularFileKey])
        guard values?.isRegularFile == true else {
            throw CoreDataModelError(.unreadable, url.path, "there is no file that can be read")
        }
        for _ in 0..<3 {
            let before = state(url)
            for suffix in [""] + companions {
                let source = URL(fileURLWithPath: url.path + suffix)
                let target = folder.appendingPathComponent(name + suffix)
                // Of an earlier attempt; without one, there is nothing to remove.
                try? FileManager.default.removeItem(at: target)
                if FileManager.default.fileExists(atPath: source.path) {
                    try copy(companion: source, to: target)
                }
            }
            if state(url) == before { return }
        }
        throw CoreDataModelError(
            .unreadable,
            name,
            "it changes while it is copied; close the app that uses it"
        )
    }

    /// Copies a file of the store.
    private static func copy(companion source: URL, to target: URL) throws {
        // The error below names the file.
        let values = try? source.resolvingSymlinksInPath()
            .resourceValues(forKeys: [.isRegularFileKey])
        let reason: String
        if values?.isRegularFile == true {
            do {
                return try FileManager.default.copyItem(
                    at: source.resolvingSymlinksInPath(),
                    to: target
                )
            } catch {
                reason = (error as NSError).localizedDescription
            }
        } else {
            reason = "it is no file"
        }
        throw CoreDataModelError(
            .unreadable,
            source.path,
            "this part of the store cannot be copied (\(reason)); close the app that uses it, make the file "
                + "readable, or take the store again with all files beside it"
        )
    }

    /// Returns a sentence for a copy whose file says that changes are kept in a log, and which has none.
    ///
    /// Core Data leaves the log beside the store, even without changes in it.
    private static func missingLog(of file: URL) -> String? {
        guard !FileManager.default.fileExists(atPath: file.path + "-wal"),
            // A file that cannot be read is an error when it is opened.
            let handle = try? FileHandle(forReadingFrom: file)
        else { return nil }
        defer {
            // It was only read.
            try? handle.close()
        }
        // The bytes 18 and 19 of a database are the versions of its format: 2 for a write-ahead log.
        guard let header = try? handle.read(upToCount: 20), header.count == 20, header[18] == 2
        else { return nil }
        let name = file.lastPathComponent
        return
            "\(name)-wal is not beside \(name), where an app keeps the latest changes; take it from the device too"
    }
}
