#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The uploads to a database that no record has taken over yet.
///
/// An entry marks its address as used and counts toward the database's quota until a record takes
/// the bytes over. It exists until they are removed.
struct UploadDirectory {
    /// A used address.
    struct Entry: Codable, Hashable {
        /// The number of bytes that no record counts.
        var bytes: Int64
        /// The checksum of the file.
        var checksum: Data
        /// The time at which the entry and the bytes are removed, in milliseconds since 1970-01-01 UTC.
        var ends: Int64
    }

    /// The number of seconds for which bytes wait for the record that they were uploaded for.
    static let waitSeconds: Int64 = 30 * 60

    let database: RowID<StoredDatabase>

    private var collection: String { "upload/\(database.rawValue)" }

    /// Returns whether an address was used.
    func isUsed(_ id: Int64, _ reader: any StorageReader) throws -> Bool {
        try entry(id, reader) != nil
    }

    /// Returns the number of waiting bytes.
    func bytes(_ reader: any StorageReader) throws -> Int64 {
        try entries(reader).reduce(0) { $0 + $1.entry.bytes }
    }

    func add(_ entry: Entry, id: Int64, _ writer: any StorageWriter) throws {
        let body = try JSONEncoder().encode(entry)
        try writer.putDocument(collection, StoredDocument(name: String(id), body: body))
    }

    /// Returns the number of an upload's bytes that are still waiting.
    func waiting(_ id: Int64, _ reader: any StorageReader) throws -> Int64 {
        try entry(id, reader)?.bytes ?? 0
    }

    /// Transfers the bytes to the record that has them from now on.
    func release(_ id: Int64, _ writer: any StorageWriter) throws {
        guard var entry = try entry(id, writer), entry.bytes != 0 else { return }
        entry.bytes = 0
        try add(entry, id: id, writer)
    }

    /// Returns whether an entry has expired.
    func hasEnded(now: Int64, _ reader: any StorageReader) throws -> Bool {
        try entries(reader).contains { $0.entry.ends <= now }
    }

    /// Removes the expired entries and returns their files.
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
