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
        (error as? DatabaseError)?.message ?? "\(error)"
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
                    try FileManager.default.copyItem(at: source, to: target)
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
}
