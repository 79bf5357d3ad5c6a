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

/// The folder of a server's data: private to its owner, and one server's at a time.
struct ServerFolder {
    let path: String

    /// Makes the folder where it is missing, and warns of one that others can read.
    ///
    /// - Throws: `StorageError` when it cannot be made.
    func prepare(_ logger: Logger) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StorageError(.inputOutput, "Cannot make the folder \(path): \(error)")
        }
        let open = openNames
        guard !open.isEmpty else { return }
        logger.warning(
            "Other users of this machine can read the data; mend it with: chmod -R go= '\(path)'",
            metadata: ["open": "\(open.joined(separator: ", "))"]
        )
    }

    /// What others than the owner may read or write.
    private var openNames: [String] {
        let names = [
            "", "/cloud.sqlite", "/cloud.sqlite-wal", "/cloud.sqlite-shm", "/assets", "/api-token",
        ]
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let settings = files.filter { $0.hasSuffix(".env") }.sorted().map { "/" + $0 }
        return (names + settings).map { path + $0 }.filter(isOpen)
    }

    private func isOpen(_ name: String) -> Bool {
        var status = stat()
        return stat(name, &status) == 0 && status.st_mode & 0o077 != 0
    }

    /// Makes this process the one server of the folder, until the lock goes.
    ///
    /// - Throws: `ServerConfigurationError` when there is another.
    func lock() throws -> Lock { try Lock(path) }

    /// Holds a folder; the system lets it go with the process, however that ends.
    final class Lock: Sendable {
        private let descriptor: Int32

        fileprivate init(_ folder: String) throws {
            let path = folder + "/server.lock"
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw StorageError(
                    .inputOutput,
                    "Cannot open \(path): \(String(cString: strerror(errno)))"
                )
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw ServerConfigurationError(
                    "Another server works on the folder \(folder); stop it, or give this one a "
                        + "folder of its own"
                )
            }
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }
    }
}
