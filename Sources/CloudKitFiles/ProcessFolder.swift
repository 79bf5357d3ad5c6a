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

/// A folder that belongs to one process, of which others see whether that process lives: it holds a
/// lock on the folder, which the system takes away when the process ends in any way.
struct ProcessFolder {
    /// What the names of such folders begin with.
    static let prefix = "CloudKit-files-"

    /// What they begin with until they are locked: such a folder may look like a dead one.
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

    /// Makes and locks a folder, and removes those of processes that ended without doing so.
    init(in parent: URL) throws {
        let name = UUID().uuidString
        let new = parent.appendingPathComponent(Self.unlockedPrefix + name, isDirectory: true)
        url = parent.appendingPathComponent(Self.prefix + name, isDirectory: true)
        guard mkdir(new.path, 0o700) == 0 else { throw Self.failure(new) }
        descriptor = open(new.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(new) }
        // A file system without locks has no one who would take the folder for a dead one.
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
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) || name.hasPrefix(unlockedPrefix) {
            let path = parent.appendingPathComponent(name).path
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid() else { continue }
            // Between its making and its lock a folder is nobody's.
            if name.hasPrefix(unlockedPrefix), age(facts) < 3600 { continue }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// How long ago a folder was changed, in seconds.
    private static func age(_ facts: stat) -> Int {
        #if canImport(Darwin)
        time(nil) - facts.st_mtimespec.tv_sec
        #else
        time(nil) - facts.st_mtim.tv_sec
        #endif
    }
    #endif

    /// Whether nobody has removed it.
    var isThere: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    /// Removes the folder with all that is in it; not in a child of its process, which has the
    /// folder's object without its being the child's.
    func remove() {
        guard process == ProcessInfo.processInfo.processIdentifier else { return }
        try? FileManager.default.removeItem(at: url)
        #if !os(Windows)
        close(descriptor)
        #endif
    }
}
