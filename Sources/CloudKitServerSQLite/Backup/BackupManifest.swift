#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The description of an archive, in its first file.
struct BackupManifest: Hashable, Codable {
    /// The name of the file.
    static let name = "manifest.json"
    /// The format that this version writes; it cannot read later ones.
    static let currentFormat = 1

    var format = currentFormat
    /// The time of the backup, in milliseconds since 1970-01-01 UTC.
    var created: Int64
    /// The size of the database in bytes, and its SHA-256.
    var databaseBytes: Int64
    var databaseChecksum: Data

    var encoded: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(self)
        }
    }

    /// Reads a manifest.
    ///
    /// - Throws: `BackupError` if it is not a manifest, or has a later format.
    init(_ data: Data) throws {
        struct Format: Decodable {
            var format: Int
        }
        // Whatever is wrong with it: without a manifest, nothing can be restored.
        guard let format = try? JSONDecoder().decode(Format.self, from: data).format else {
            throw BackupError("its manifest cannot be read")
        }
        guard format <= Self.currentFormat else {
            throw BackupError(
                "a newer version of cloudkit created it (format \(format), and this one reads up to "
                    + "\(Self.currentFormat)); restore it with that version"
            )
        }
        // As above.
        guard let manifest = try? JSONDecoder().decode(Self.self, from: data) else {
            throw BackupError("its manifest cannot be read")
        }
        self = manifest
    }

    init(created: Int64, databaseBytes: Int64, databaseChecksum: Data) {
        self.created = created
        self.databaseBytes = databaseBytes
        self.databaseChecksum = databaseChecksum
    }
}
