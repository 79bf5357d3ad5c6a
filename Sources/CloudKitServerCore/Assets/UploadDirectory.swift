#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What came through the upload addresses of a database and stands in no record yet.
///
/// An entry says that its address was used, counts against the database's quota until a record takes
/// the bytes over, and is there until they are removed.
struct UploadDirectory {
    /// One address that was used.
    struct Entry: Codable, Hashable {
        /// Bytes that no record counts.
        var bytes: Int64
        /// The file.
        var checksum: Data
        /// When the entry goes, and the bytes with it, in milliseconds since 1970-01-01 UTC.
        var ends: Int64
    }

    /// Seconds for which bytes wait for the record that they were uploaded for.
    static let waitSeconds: Int64 = 30 * 60

    let database: RowID<StoredDatabase>

    private var collection: String { "upload/\(database.rawValue)" }

    /// Whether an address was used.
    func isUsed(_ id: Int64, _ reader: any StorageReader) throws -> Bool {
        try entry(id, reader) != nil
    }

    /// Bytes that wait.
    func bytes(_ reader: any StorageReader) throws -> Int64 {
        try entries(reader).reduce(0) { $0 + $1.entry.bytes }
    }

    func add(_ entry: Entry, id: Int64, _ writer: any StorageWriter) throws {
        let body = try JSONEncoder().encode(entry)
        try writer.putDocument(collection, StoredDocument(name: String(id), body: body))
    }

    /// Bytes of an upload that still wait.
    func waiting(_ id: Int64, _ reader: any StorageReader) throws -> Int64 {
        try entry(id, reader)?.bytes ?? 0
    }

    /// Leaves the bytes to the record that has them from now on.
    func release(_ id: Int64, _ writer: any StorageWriter) throws {
        guard var entry = try entry(id, writer), entry.bytes != 0 else { return }
        entry.bytes = 0
        try add(entry, id: id, writer)
    }

    /// Whether there is an entry that ended.
    func hasEnded(now: Int64, _ reader: any StorageReader) throws -> Bool {
        try entries(reader).contains { $0.entry.ends <= now }
    }

    /// Removes the entries that ended; answers their files.
    func clean(now: Int64, _ writer: any StorageWriter) throws -> [Data] {
        let ended = try entries(writer).filter { $0.entry.ends <= now }
        for (name, _) in ended { try writer.removeDocument(collection, name) }
        return ended.map(\.entry.checksum)
    }

    private func entry(_ id: Int64, _ reader: any StorageReader) throws -> Entry? {
        try reader.document(collection, String(id))
            .map { try JSONDecoder().decode(Entry.self, from: $0) }
    }

    private func entries(_ reader: any StorageReader) throws -> [(name: String, entry: Entry)] {
        try reader.documents(collection).map {
            ($0.name, try JSONDecoder().decode(Entry.self, from: $0.body))
        }
    }
}
