import CloudKitServerCore

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

/// A private folder beside an archive for the parts of a backup in progress, removed with the last use.
///
/// It is locked while it is in use, so that the next backup can remove what a killed one left.
final class BackupFolder: Sendable {
    private static let prefix = ".cloudkit-backup-"

    /// The path of the folder.
    let path: String
    private let descriptor: Int32

    /// Creates a folder in the folder of an archive.
    ///
    /// - Throws: `BackupError` when there is no such folder, or this user may not write to it.
    init(beside archive: String) throws {
        let folder = URL(fileURLWithPath: archive).deletingLastPathComponent().path
        Self.removeRemains(in: folder)
        path = "\(folder)/\(Self.prefix)\(UUID().uuidString)"
        guard mkdir(path, 0o700) == 0 else {
            throw BackupError("\(folder) is no folder that this user may write to; name another")
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit {
        // The next backup removes what stays.
        try? FileManager.default.removeItem(atPath: path)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func removeRemains(in folder: String) {
        // A folder that cannot be listed is reported when the backup writes into it.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // The next backup tries again.
                try? FileManager.default.removeItem(atPath: path)
            }
            close(descriptor)
        }
    }
}
