import CloudKitServerCore
import Logging

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

/// The folder of a server's data, which is private to its owner and used by one server at a time.
struct ServerFolder {
    let path: String

    /// Creates the folder if it is missing, and warns if others can read it.
    ///
    /// - Returns: `true` if the folder was created.
    /// - Throws: `StorageError` when it cannot be created.
    func prepare(_ logger: Logger) throws -> Bool {
        let isNew = !FileManager.default.fileExists(atPath: path)
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            guard (error as? CocoaError)?.code != .fileWriteOutOfSpace else {
                throw StorageError(.full, "\(path) cannot be created, because its disk is full")
            }
            let isThere = FileManager.default.fileExists(atPath: path)
            throw StorageError(
                .inputOutput,
                isThere
                    ? "\(path) is a file; choose a folder"
                    : "\(path) cannot be created; choose a folder that this user may write to"
            )
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw StorageError(
                .inputOutput,
                "\(path) is not writable for this user, which reading its database needs too; run the "
                    + "command as the server's user, or on a copy, or give another folder"
            )
        }
        try checkIsWhole()
        let open = openNames
        guard !open.isEmpty else { return isNew }
        logger.warning(
            "Other users of this machine can read the data",
            metadata: [
                "open": "\(open.joined(separator: ", "))", "remedy": "chmod -R go= '\(path)'",
            ]
        )
        return isNew
    }

    /// Refuses a folder without its database: a new database would consider all assets unused, and
    /// the next cleaning would remove them.
    private func checkIsWhole() throws {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: path + "/cloud.sqlite") else { return }
        var left = hasAssets ? ["assets"] : []
        if manager.fileExists(atPath: path + "/cloud.sqlite-wal") {
            left.append("cloud.sqlite-wal")
        }
        guard !left.isEmpty else { return }
        throw StorageError(
            .corrupt,
            "\(path)/cloud.sqlite is missing, though \(left.joined(separator: " and ")) "
                + "\(left.count == 1 ? "is" : "are") there; restore it from a backup, or move "
                + "\(left.map { "\(path)/\($0)" }.joined(separator: " and ")) away to start over"
        )
    }

    /// `true` when the folder has files of assets.
    private var hasAssets: Bool {
        let manager = FileManager.default
        // A folder that is not there holds nothing.
        let folders = (try? manager.contentsOfDirectory(atPath: path + "/assets")) ?? []
        return folders.contains { folder in
            // As above.
            let names = try? manager.contentsOfDirectory(atPath: "\(path)/assets/\(folder)")
            return folder.count == 2 && names?.isEmpty == false
        }
    }

    /// The name of the file with the location of assets that are not in the folder.
    static let locationFile = "assets-location"

    /// The location of the assets that are not in the folder, such as `s3://bucket/prefix`; nil if they are.
    var assetsLocation: String? {
        // Without the file the assets are in the folder.
        let data = FileManager.default.contents(atPath: "\(path)/\(Self.locationFile)")
        return data.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
    }

    /// Notes in a new folder where its assets are, so that nothing looks for them elsewhere.
    ///
    /// - Parameter storage: The storage of the assets; nil for files in the folder.
    /// - Throws: `StorageError` when the assets are elsewhere, or the note cannot be written.
    func noteLocation(of storage: (any AssetStorage)?) throws {
        let known = assetsLocation
        let location = storage?.location
        if known == location { return }
        guard let location else {
            throw StorageError(
                .other,
                "The assets of \(path) are in \(known ?? ""), not in the folder; name that with --assets, or "
                    + "copy them to \(path)/assets and remove \(path)/\(Self.locationFile)"
            )
        }
        if let known {
            throw StorageError(
                .other,
                "The assets of \(path) are in \(known), not in \(location); name the first, or copy them and "
                    + "remove \(path)/\(Self.locationFile)"
            )
        }
        guard !hasAssets else {
            throw StorageError(
                .other,
                "The assets of \(path) are in the folder, not in \(location); copy \(path)/assets there, "
                    + "such as with aws s3 sync, and remove it then"
            )
        }
        do {
            try Data("\(location)\n".utf8).write(
                to: URL(fileURLWithPath: "\(path)/\(Self.locationFile)"),
                options: .atomic
            )
        } catch {
            throw StorageError(
                .inputOutput,
                "\(path)/\(Self.locationFile) cannot be written: \(error)"
            )
        }
    }

    /// The names that users other than the owner can read or write.
    private var openNames: [String] {
        let names = [
            "", "/cloud.sqlite", "/cloud.sqlite-wal", "/cloud.sqlite-shm", "/assets",
        ]
        // A folder that is not there is not open to others.
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let access = files.filter { $0.hasSuffix(".env") || $0.hasPrefix("api-token") }.sorted()
        return (names + access.map { "/" + $0 }).map { path + $0 }.filter(isOpen)
    }

    private func isOpen(_ name: String) -> Bool {
        let file = URL(filePath: name).resolvingSymlinksInPath().path
        // As above.
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.posixPermissions] as? Int ?? 0) & 0o077 != 0
    }

    /// Locks the folder for this process until the lock is released.
    ///
    /// - Throws: `ServerConfigurationError` when another server has locked it.
    func lock() throws -> Lock { try Lock(path) }

    /// A lock on the folder, which the system releases when the process ends for any reason.
    ///
    /// The folder itself is locked too because a file in it can be removed and created again.
    final class Lock: Sendable {
        private let descriptors: [Int32]

        fileprivate init(_ folder: String) throws {
            let path = folder + "/server.lock"
            let file = try Self.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
            var descriptors = [file]
            do {
                descriptors.append(try Self.open(folder, O_RDONLY | O_DIRECTORY))
                try Self.lock(descriptors[1], of: folder, isNeeded: false)
                try Self.lock(file, of: folder, isNeeded: true)
            } catch {
                for descriptor in descriptors { close(descriptor) }
                throw error
            }
            self.descriptors = descriptors
        }

        private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
            #if canImport(Glibc)
            let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
            #elseif canImport(Musl)
            let descriptor = Musl.open(path, flags | O_CLOEXEC, 0o600)
            #elseif canImport(Android)
            let descriptor = Android.open(path, flags | O_CLOEXEC, 0o600)
            #else
            let descriptor = Darwin.open(path, flags | O_CLOEXEC, 0o600)
            #endif
            guard descriptor >= 0 else { throw failure("open", path) }
            return descriptor
        }

        private static func lock(
            _ descriptor: Int32,
            of folder: String,
            isNeeded: Bool
        ) throws {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            if errno == EWOULDBLOCK {
                throw ServerConfigurationError(
                    "Another server works on the folder \(folder), or a repair does; stop it, or "
                        + "give this one a folder of its own"
                )
            }
            // Some file systems cannot lock folders.
            if isNeeded { throw failure("lock", folder) }
        }

        private static func failure(_ verb: String, _ path: String) -> StorageError {
            StorageError(
                .inputOutput,
                "Cannot \(verb) \(path): \(String(cString: strerror(errno)))"
            )
        }

        deinit { for descriptor in descriptors { close(descriptor) } }
    }
}

/// A hold on a server's folder, with which no server starts on it.
package struct FolderHold: Sendable {
    private let lock: ServerFolder.Lock?

    /// Holds a folder until the last use of the hold; nil if a server works on it.
    package init?(of folder: String) {
        do {
            lock = try ServerFolder(path: folder).lock()
        } catch is ServerConfigurationError {
            return nil
        } catch {
            // A folder that cannot be locked for another reason is not known to be in use.
            lock = nil
        }
    }
}
