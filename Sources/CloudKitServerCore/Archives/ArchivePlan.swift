import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The contents of an archive at the time of its request; its bytes are assembled while they are sent.
struct ArchivePlan: Codable {
    /// A file of either kind.
    struct Entry: Codable {
        var file: ZipLayout.File
        /// The checksum of the asset that the file contains; nil for the manifest.
        var checksum: Data?
    }

    /// The time, in milliseconds since 1970-01-01 UTC, after which the archive cannot be downloaded.
    var expires: Int64
    /// The description of the records and their files.
    var manifest: Data
    var entries: [Entry]

    var layout: ZipLayout { ZipLayout(files: entries.map(\.file)) }
}

/// The stored plans of a user's archives, which are kept until they expire.
struct ArchiveDirectory {
    /// The maximum number of a user's archives; another one ends the oldest.
    static let countLimit = 8

    let environment: RowID<StoredEnvironment>
    let user: RowID<StoredUser>

    private var collection: String { "archive/\(environment.rawValue)/\(user.rawValue)" }

    func plan(_ id: String, now: Int64, _ reader: any StorageReader) throws -> ArchivePlan? {
        let plan = try reader.document(collection, id).flatMap {
            // A damaged plan counts as none, and its link as expired.
            try? JSONDecoder().decode(ArchivePlan.self, from: $0)
        }
        return plan.flatMap { $0.expires > now ? $0 : nil }
    }

    func add(_ plan: ArchivePlan, id: String, _ writer: any StorageWriter) throws {
        let known = try expiries(writer).sorted { ($0.expires, $0.id) < ($1.expires, $1.id) }
        for old in known.dropLast(Self.countLimit - 1) {
            try writer.removeDocument(collection, old.id)
        }
        let body = try JSONEncoder().encode(plan)
        try writer.putDocument(collection, StoredDocument(name: id, body: body))
    }

    /// Returns whether a plan has expired.
    func hasEnded(now: Int64, _ reader: any StorageReader) throws -> Bool {
        try expiries(reader).contains { $0.expires <= now }
    }

    /// Removes the expired plans.
    func clean(now: Int64, _ writer: any StorageWriter) throws {
        for old in try expiries(writer) where old.expires <= now {
            try writer.removeDocument(collection, old.id)
        }
    }

    private func expiries(_ reader: any StorageReader) throws -> [(id: String, expires: Int64)] {
        struct Expiry: Decodable { var expires: Int64 }
        return try reader.documents(collection).map { document in
            // A damaged plan has expired.
            let expiry = try? JSONDecoder().decode(Expiry.self, from: document.body)
            return (document.name, expiry?.expires ?? 0)
        }
    }
}
