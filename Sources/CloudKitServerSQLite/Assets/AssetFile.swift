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

/// An open file, closed with its last use.
///
/// It is used by one task at a time: the one that writes an upload, or the one that reads a download.
final class AssetFile: Sendable {
    private let descriptor: Int32

    /// Creates a file that did not exist.
    init(creating path: String) throws {
        // No link is followed, so that the file is in the folder where it seems to be.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("make", path) }
        // The lock shows other processes on the same folder that the file is being written.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure("lock", path) }
    }

    /// Opens a file for reading; returns nil if it does not exist.
    init?(opening path: String) throws {
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw Self.failure("open", path)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens a plain file for reading; returns nil for anything else, and where it cannot be opened.
    init?(readable path: String) {
        // A pipe, in place of a file, would wait for a writer.
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
    }

    /// Appends bytes.
    func write(_ data: Data) throws {
        try data.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
                #elseif canImport(Musl)
                let count = Musl.write(descriptor, piece.baseAddress, piece.count)
                #elseif canImport(Android)
                let count = Android.write(descriptor, piece.baseAddress, piece.count)
                #else
                let count = Darwin.write(descriptor, piece.baseAddress, piece.count)
                #endif
                if count < 0 {
                    if errno == EINTR { continue }
                    throw Self.failure("write", "an asset")
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Reads the next bytes; returns nil at the end.
    func read(_ count: Int) throws -> Data? {
        var data = Data(count: count)
        while true {
            let found = data.withUnsafeMutableBytes { buffer in
                #if canImport(Glibc)
                Glibc.read(descriptor, buffer.baseAddress, count)
                #elseif canImport(Musl)
                Musl.read(descriptor, buffer.baseAddress, count)
                #elseif canImport(Android)
                Android.read(descriptor, buffer.baseAddress, count)
                #else
                Darwin.read(descriptor, buffer.baseAddress, count)
                #endif
            }
            if found < 0 {
                if errno == EINTR { continue }
                throw Self.failure("read", "an asset")
            }
            return found == 0 ? nil : data.prefix(found)
        }
    }

    /// Returns the number of bytes.
    func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("measure", "an asset") }
        return Int64(status.st_size)
    }

    /// Cuts a file that is being written to its first bytes; the next are appended to those.
    func cut(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0,
            lseek(descriptor, off_t(size), SEEK_SET) == off_t(size)
        else { throw Self.failure("cut", "an archive") }
    }

    /// Syncs the bytes to the disk.
    func sync(_ path: String) throws {
        guard fsync(descriptor) == 0 else { throw Self.failure("sync", path) }
    }

    /// Renames a file to its final name.
    static func rename(_ temporary: String, to path: String) throws {
        // The function of the C library; plain `rename` would be this function.
        let result = renameat(AT_FDCWD, temporary, AT_FDCWD, path)
        guard result == 0 else { throw failure("rename", temporary) }
    }

    /// Renames a file to its final name, which survives a power failure.
    static func publish(_ temporary: String, as path: String) throws {
        try rename(temporary, to: path)
        try sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    /// Links a file to its final name, which survives a power failure, unless there is a file of that
    /// name.
    ///
    /// - Returns: `false` if there is one, which stays.
    static func publish(_ temporary: String, asNew path: String) throws -> Bool {
        // Unlike a rename, a link never replaces a file.
        guard link(temporary, path) == 0 else {
            if errno == EEXIST { return false }
            throw failure("name", path)
        }
        try sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
        return true
    }

    /// Syncs the names in a folder to the disk.
    @Sendable
    static func sync(_ folder: String) throws {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("open", folder) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw failure("sync", folder) }
    }

    /// Removes a file unless it is being written.
    static func removeUnlessLocked(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
    }

    private static func failure(_ verb: String, _ what: String) -> StorageError {
        // The last is a limit of the file system, or of the process.
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(errno)
        let code: StorageError.Code = isFull ? .full : .inputOutput
        return StorageError(code, "Cannot \(verb) \(what): \(String(cString: strerror(errno)))")
    }
}
