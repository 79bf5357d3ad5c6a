package import Foundation

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
package struct ProcessFolder: Sendable {
    /// The names of the folders for one purpose.
    package struct Names: Sendable {
        /// The prefix of the names.
        let prefix: String
        /// The prefix until the folders are locked, because an unlocked folder looks abandoned.
        let unlockedPrefix: String

        /// Creates names with two prefixes.
        package init(prefix: String, unlockedPrefix: String) {
            self.prefix = prefix
            self.unlockedPrefix = unlockedPrefix
        }

        /// Returns whether a name is one of these.
        func contain(_ name: String) -> Bool {
            name.hasPrefix(prefix) || name.hasPrefix(unlockedPrefix)
        }
    }

    /// The folder.
    package let url: URL
    private let process = ProcessInfo.processInfo.processIdentifier

    #if os(Windows)
    package init(in parent: URL, named names: Names) throws {
        url = parent.appendingPathComponent(names.prefix + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Does nothing: here a folder does not show whether its process has ended.
    static func removeDead(in parent: URL, named names: Names) {}
    #else
    /// The lock, held until the process ends.
    private let descriptor: Int32

    /// Creates and locks a folder, and removes those of processes that ended without doing so.
    ///
    /// - Throws: An error if it cannot be created.
    package init(in parent: URL, named names: Names) throws {
        let name = UUID().uuidString
        let new = parent.appendingPathComponent(names.unlockedPrefix + name, isDirectory: true)
        url = parent.appendingPathComponent(names.prefix + name, isDirectory: true)
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
        Self.removeDead(in: parent, named: names)
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
    static func removeDead(in parent: URL, named names: Names) {
        // Cleaning up after others stops nobody.
        let found = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in found where names.contain(name) {
            let isUnlocked = name.hasPrefix(names.unlockedPrefix)
            let path = parent.appendingPathComponent(name).path
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid() else { continue }
            // Between its creation and its lock, a folder has no owner.
            if isUnlocked, age(facts) < 3600 { continue }
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
    package func remove() {
        guard process == ProcessInfo.processInfo.processIdentifier else { return }
        // The next process of this user removes what stays.
        try? FileManager.default.removeItem(at: url)
        #if !os(Windows)
        close(descriptor)
        #endif
    }
}
