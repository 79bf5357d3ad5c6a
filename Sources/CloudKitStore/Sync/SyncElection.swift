import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The election of the store that syncs a file: the one that holds the lock of a file beside it,
/// which the system releases when the process ends for any reason.
///
/// A database in memory belongs to this process; its stores are distinguished by their writer.
final class SyncElection: Sendable {
    /// The in-memory writers whose stores lead.
    private static let leaders = Mutex<Set<ObjectIdentifier>>([])

    private let writer: any DatabaseWriter
    /// The lock file's path; nil for a database in memory.
    private let path: String?
    /// The lock file while this store holds it; -1 for one in memory.
    private let held = Mutex<Int32?>(nil)

    init(_ writer: any DatabaseWriter) {
        self.writer = writer
        path = Self.path(of: writer).map { $0 + "-cloudkit" }
    }

    /// Returns the path of a database's file, beside which the store keeps its own files; nil for a
    /// database in memory.
    static func path(of writer: any DatabaseWriter) -> String? {
        let isInMemory = writer.path.isEmpty || writer.path == ":memory:"
        return isInMemory || writer.path.hasPrefix("file:") ? nil : writer.path
    }

    deinit { resign() }

    /// `true` when another process could have the file open.
    var isShared: Bool { path != nil }

    var isLeading: Bool { held.withLock { $0 != nil } }

    /// Tries to lead; returns whether this store leads now.
    func lead() throws -> Bool {
        try held.withLock { held in
            if held != nil { return true }
            guard let path else {
                let isFirst = Self.leaders.withLock {
                    $0.insert(ObjectIdentifier(writer)).inserted
                }
                if isFirst { held = -1 }
                return isFirst
            }
            // A child process must not inherit the lock and keep it.
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CloudStoreError(
                    .unreadableFile,
                    "The lock file '\(path)' cannot be opened (\(String(cString: strerror(errno)))); "
                        + "let the app write into the database's directory"
                )
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                return false
            }
            held = descriptor
            return true
        }
    }

    /// Stops leading, so that another store can lead.
    func resign() {
        held.withLock { held in
            guard let descriptor = held else { return }
            if descriptor >= 0 {
                close(descriptor)
            } else {
                _ = Self.leaders.withLock { $0.remove(ObjectIdentifier(writer)) }
            }
            held = nil
        }
    }
}
