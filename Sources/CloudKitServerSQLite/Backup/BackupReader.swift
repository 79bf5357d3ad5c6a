import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads an archive of `Backup` from beginning to end.
struct BackupReader {
    /// A file of the archive.
    enum Content: Hashable {
        case database
        case asset([UInt8])
    }

    private static let pieceBytes = 1 << 20
    private static let manifestBytes: Int64 = 64 << 10

    let path: String
    /// The size of the archive in bytes.
    let bytes: Int64

    init(path: String) throws {
        self.path = path
        bytes = try Self.open(path).size()
    }

    private static func open(_ path: String) throws -> AssetFile {
        // The path may be a link to an archive elsewhere.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let file = AssetFile(readable: target) else {
            throw BackupError("\(path): there is no plain file that can be read")
        }
        return file
    }

    /// Returns whether the file begins as an archive does, of any version.
    func isArchive() -> Bool {
        // A file that cannot be read to the end of a header is none.
        guard let file = try? Self.open(path), let head = try? exactly(TarEntry.block, of: file)
        else { return false }
        return (try? TarEntry(header: head))?.name == BackupManifest.name
    }

    /// Reads the entire archive, and returns the assets whose bytes do not match their checksums.
    ///
    /// - Throws: `BackupError` when the archive or its database is incomplete or damaged.
    func verify() async throws -> [[UInt8]] {
        try await read { _ in nil }
    }

    /// Reads the entire archive.
    ///
    /// - Parameter target: A closure that returns the destination of a file's bytes; nil to only
    ///   compare them with the checksum.
    /// - Returns: The assets whose bytes do not match their checksums.
    /// - Throws: `BackupError` when the archive or its database is incomplete or damaged.
    @discardableResult
    func read(into target: (Content) throws -> AssetFile?) async throws -> [[UInt8]] {
        let file = try Self.open(path)
        let manifest = try manifest(file)
        var damaged: [[UInt8]] = []
        var hasDatabase = false
        while let entry = try TarEntry(header: exactly(TarEntry.block, of: file)) {
            let content = try content(entry)
            let checksum = try await copy(entry, of: file, to: target(content))
            switch content {
            case .database:
                hasDatabase = true
                guard checksum == Array(manifest.databaseChecksum) else {
                    throw BackupError("\(path): its database does not match its checksum")
                }
            case .asset(let expected):
                if checksum != expected { damaged.append(expected) }
            }
        }
        guard hasDatabase else { throw BackupError("\(path): it contains no database") }
        return damaged
    }

    private func manifest(_ file: AssetFile) throws -> BackupManifest {
        let head = try exactly(TarEntry.block, of: file)
        // Any file but an archive ends here.
        guard let entry = try? TarEntry(header: head), entry.name == BackupManifest.name,
            entry.size <= Self.manifestBytes
        else { throw BackupError("\(path): it is not an archive of cloudkit backup") }
        let data = try exactly(Int(entry.size), of: file)
        _ = try exactly(entry.padding, of: file)
        do {
            return try BackupManifest(data)
        } catch let error as BackupError {
            throw BackupError("\(path): \(error)")
        }
    }

    private func content(_ entry: TarEntry) throws -> Content {
        if entry.name == BackupNames.database { return .database }
        guard let checksum = BackupNames.checksum(entry.name) else {
            throw BackupError("\(path): it contains a file with an unknown name")
        }
        return .asset(checksum)
    }

    /// Reads a file of the archive; returns its SHA-256.
    private func copy(
        _ entry: TarEntry,
        of file: AssetFile,
        to target: AssetFile?
    ) async throws -> [UInt8] {
        var hash = SHA256()
        var left = entry.size
        while left > 0 {
            try await Backup.pause()
            let piece = try exactly(Int(min(left, Int64(Self.pieceBytes))), of: file)
            hash.update(data: piece)
            try target?.write(piece)
            left -= Int64(piece.count)
        }
        _ = try exactly(entry.padding, of: file)
        try target?.sync(entry.name)
        return Array(hash.finalize())
    }

    private func exactly(_ count: Int, of file: AssetFile) throws -> Data {
        var data = Data()
        while data.count < count {
            guard let piece = try file.read(count - data.count) else {
                throw BackupError("\(path): the archive is cut short; restore another one")
            }
            data += piece
        }
        return data
    }
}
