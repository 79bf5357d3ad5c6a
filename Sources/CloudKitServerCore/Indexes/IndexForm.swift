import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The format version of an environment's index keys.
///
/// Version 1 has the zone in the keys of references, and words without accents; its entries have
/// numbers of their own. Version 2 has more words, such as thé, which version 1 mistook for an
/// ignored word. Version 3 has the shares of roots, which were missing. Older databases are updated
/// while requests are served: new records are written in the new format, and queries use the index
/// of all records until the update is complete.
struct IndexForm {
    let environment: RowID<StoredEnvironment>

    private static let current = Data([3])
    private static let name = "version"

    /// The collection of the version, which is kept with the data so that snapshots include it.
    var collection: String { "indexForm/\(environment.rawValue)" }

    /// The document of the version.
    var key: DocumentKey { DocumentKey(collection, Self.name) }

    /// Returns whether every key has the newest format.
    func isCurrent(_ reader: any StorageReader) throws -> Bool {
        try reader.document(collection, Self.name) == Self.current
    }

    /// Records that every key has the newest format.
    func setCurrent(_ writer: any StorageWriter) throws {
        try writer.putDocument(
            collection,
            StoredDocument(name: Self.name, body: Self.current)
        )
    }
}

/// One commit of the update of an environment's indexes.
struct IndexUpdate {
    /// The progress within a zone.
    struct Place {
        /// The current type; nil for the first.
        var type: String?
        /// The last processed record of the type, in the index of all records.
        var last: IndexEntry?
    }

    let environment: RowID<StoredEnvironment>
    let zone: RowID<StoredZone>
    let writer: any StorageWriter

    private static let recordsPerCommit = 200

    /// Adds the entries of the next records; returns the position to continue from, or nil at the end.
    func step(from place: Place) throws -> Place? {
        guard let row = try writer.zone(zone), !row.isDeleted else { return nil }
        let schema = try Schema(writer.schema(environment))
        let names = schema.types.keys.sorted()
        guard let name = names.first(where: { $0 >= place.type ?? "" }),
            let type = schema.types[name]
        else { return nil }
        let last = name == place.type ? place.last : nil
        let records = try writer.entries(
            IndexScan(
                zone: zone,
                index: type.nameIndex,
                after: last,
                limit: Self.recordsPerCommit
            )
        )
        try add(records, of: type, ReferenceHome(row, writer))
        if records.count == Self.recordsPerCommit {
            return Place(type: name, last: records.last)
        }
        return names.first { $0 > name }.map { Place(type: $0) }
    }

    private func add(
        _ records: [IndexEntry],
        of type: RecordTypeSchema,
        _ home: ReferenceHome
    ) throws {
        let keys = IndexKeys(type)
        for entry in records {
            guard let record = try writer.record(entry.record, in: zone),
                !record.isDeleted
            else { continue }
            let fields = try RecordFields(stored: record.fields)
            let new = keys.entries(of: record, fields, home)
            if record.share != nil {
                try writer.removeEntries(of: record.id, in: zone)
                try writer.addEntries(new, in: zone)
            } else {
                // The entries of the other indexes exist already.
                try writer.addEntries(new.filter { $0.index < 0 }, in: zone)
            }
        }
    }

    /// Removes the entries that are no longer read.
    static func removeOldEntries(
        _ environment: RowID<StoredEnvironment>,
        _ writer: any StorageWriter
    ) throws {
        for (_, type) in try Schema(writer.schema(environment)).types.sorted(by: { $0.key < $1.key }
        ) {
            for (_, field) in type.indexedFields {
                if field.type.scalar == .reference {
                    try writer.removeEntries(index: field.oldValueIndex, environment)
                }
                try writer.removeEntries(index: field.oldWordIndex, environment)
            }
        }
    }
}
