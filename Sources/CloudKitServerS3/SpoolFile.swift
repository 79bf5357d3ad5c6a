#if S3
import CloudKitBasics
import CloudKitServerCore
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// A private file without a name, for an upload that is still arriving; the system removes it with its last
/// use, also when the process is killed.
package final class SpoolFile: Sendable {
    /// The number of bytes that are read at a time.
    package static let pieceBytes = 256 * 1024

    private let descriptor: Int32
    private let bytes = Mutex<Int64>(0)

    /// The number of bytes.
    package var size: Int64 { bytes.withLock { $0 } }

    /// Creates a file in a folder.
    package init(in folder: String) throws {
        let path = "\(folder)/.upload-\(UUID().uuidString)"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("make \(path)") }
        guard unlink(path) == 0 else {
            let failure = Self.failure("unlink \(path)")
            close(descriptor)
            throw failure
        }
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    package func append(_ data: Data) throws {
        var place = size
        try data.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let count = pwrite(descriptor, piece.baseAddress, piece.count, off_t(place))
                if count < 0 {
                    if errno == EINTR { continue }
                    throw Self.failure("write an upload")
                }
                rest = rest.dropFirst(count)
                place += Int64(count)
            }
        }
        bytes.withLock { $0 = place }
    }

    /// Returns bytes at a place, at least one.
    package func read(at place: Int64, count: Int) throws -> Data {
        var data = Data(count: count)
        while true {
            let found = data.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress, count, off_t(place))
            }
            if found < 0 {
                if errno == EINTR { continue }
                throw Self.failure("read an upload")
            }
            guard found > 0 else {
                throw StorageError(.inputOutput, "An upload became shorter while it was sent")
            }
            return data.prefix(found)
        }
    }

    /// Returns SHA-256 of a part, in hexadecimal digits.
    package func checksum(of range: Range<Int64>) throws -> String {
        var hash = SHA256()
        var place = range.lowerBound
        while place < range.upperBound {
            let piece = try read(
                at: place,
                count: min(Self.pieceBytes, Int(range.upperBound - place))
            )
            hash.update(data: piece)
            place += Int64(piece.count)
        }
        return Hexadecimal.text(hash.finalize())
    }

    private static func failure(_ what: String) -> StorageError {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(errno)
        let code: StorageError.Code = isFull ? .full : .inputOutput
        return StorageError(code, "Cannot \(what): \(String(cString: strerror(errno)))")
    }
}
#endif
