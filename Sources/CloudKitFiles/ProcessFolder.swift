import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// A folder that belongs to one process and shows others whether that process is alive: it is
/// locked, and the system releases the lock when the process ends in any way.
struct ProcessFolder {
    /// The prefix of such folders' names.
    static let prefix = "CloudKit-files-"

    /// The prefix of their names until they are locked, because an unlocked folder looks abandoned.
    private static let unlockedPrefix = "CloudKit-new-"

    let url: URL
    private let process = ProcessInfo.processInfo.processIdentifier

    #if os(Windows)
    init(in parent: URL) throws {
        url = parent.appendingPathComponent(Self.prefix + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    #else
    /// The lock, held until the process ends.
    private let descriptor: Int32

    /// Creates and locks a folder, and removes those of processes that ended without doing so.
    init(in parent: URL) throws {
        let name = UUID().uuidString
        let new = parent.appendingPathComponent(Self.unlockedPrefix + name, isDirectory: true)
        url = parent.appendingPathComponent(Self.prefix + name, isDirectory: true)
        guard mkdir(new.path, 0o700) == 0 else { throw Self.failure(new) }
        descriptor = open(new.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(new) }
        // On a file system without locks, no process would treat the folder as abandoned.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        guard rename(new.path, url.path) == 0 else {
            let failure = Self.failure(url)
            close(descriptor)
            throw failure
        }
        Self.removeDead(in: parent)
    }

    private static func failure(_ folder: URL) -> any Error {
        let code = errno
        return CocoaError(
            .fileWriteUnknown,
            userInfo: [
                NSFilePathErrorKey: folder.path,
                NSUnderlyingErrorKey: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO),
            ]
        )
    }

    /// Removes folders of this user whose processes have ended.
    private static func removeDead(in parent: URL) {
        // Cleaning up after others stops nobody.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) || name.hasPrefix(unlockedPrefix) {
            let path = parent.appendingPathComponent(name).path
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid() else { continue }
            // Between its creation and its lock, a folder has no owner.
            if name.hasPrefix(unlockedPrefix), age(facts) < 3600 { continue }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            // As above: the next process tries again.
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Returns the time since a folder was changed, in seconds.
    private static func age(_ facts: stat) -> Int {
        #if canImport(Darwin)
        time(nil) - facts.st_mtimespec.tv_sec
        #else
        time(nil) - facts.st_mtim.tv_sec
        #endif
    }
    #endif

    /// `true` when the folder still exists.
    var isThere: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    /// Removes the folder with its content; has no effect in a child process, which inherits the
    /// object but does not own the folder.
    func remove() {
        guard process == ProcessInfo.processInfo.processIdentifier else { return }
        // The next process of this user removes what stays.
        try? FileManager.default.removeItem(at: url)
        #if !os(Windows)
        close(descriptor)
        #endif
    }
}
