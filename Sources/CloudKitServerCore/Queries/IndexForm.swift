import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form of the index keys of an environment.
///
/// Version 1 has the zone in the keys of references, and words without accents; its entries stand
/// under numbers of their own. Version 2 has words more, such as thé, which version 1 took for words
/// that are ignored. Version 3 has the shares of roots, which had not been entered. Files of before
/// are brought up to date beside requests: what is saved meanwhile is written in the new form, and
/// queries walk the index of all records until everything is.
struct IndexForm {
    let environment: RowID<StoredEnvironment>

    private static let current = Data([3])
    private static let name = "version"

    /// Kept with the data, so that a snapshot brings its form with it.
    var collection: String { "indexForm/\(environment.rawValue)" }

    /// Whether every key has the newest form.
    func isCurrent(_ reader: any StorageReader) throws -> Bool {
        try reader.document(collection, Self.name) == Self.current
    }

    /// Notes that every key has the newest form.
    func setCurrent(_ writer: any StorageWriter) throws {
        try writer.putDocument(
            collection,
            StoredDocument(name: Self.name, body: Self.current)
        )
    }
}

extension CloudService {
    /// Brings the index keys of files that an older version wrote to the form of this one.
    ///
    /// It works in small commits and may run beside requests, which are answered right all the while,
    /// only more slowly. It does nothing where nothing is old; broken off, it starts again.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    @concurrent
    public func updateIndexes() async throws {
        let old = try await storage.read { reader in
            try reader.environments().filter {
                try !IndexForm(environment: $0.id).isCurrent(reader)
            }
        }
        for environment in old {
            let zones = try await storage.read { try $0.zones(environment.id).map(\.id) }
            for zone in zones {
                var place: IndexUpdate.Place? = IndexUpdate.Place()
                while let next = place {
                    try Task.checkCancellation()
                    place = try await storage.write { writer in
                        try IndexUpdate(environment: environment.id, zone: zone, writer: writer)
                            .step(from: next)
                    }
                }
            }
            try await storage.write { writer in
                try IndexUpdate.removeOldEntries(environment.id, writer)
                try IndexForm(environment: environment.id).setCurrent(writer)
            }
        }
    }
}

/// One commit of the way of an environment's indexes to their newest form.
private struct IndexUpdate {
    /// How far a zone is done.
    struct Place {
        /// The type that is being looked at; nil for the first.
        var type: String?
        /// The last record of it, in the index of all records.
        var last: IndexEntry?
    }

    let environment: RowID<StoredEnvironment>
    let zone: RowID<StoredZone>
    let writer: any StorageWriter

    private static let recordsPerCommit = 200

    /// Adds the entries of the next records; answers where to go on, nil at the end.
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
            guard let record = try writer.record(entry.record), !record.isDeleted else { continue }
            let fields = try RecordFields(stored: record.fields)
            let new = keys.entries(of: record, fields, home)
            if record.share != nil {
                try writer.removeEntries(of: record.id, in: zone)
                try writer.addEntries(new, in: zone)
            } else {
                // Those of the other indexes are there already.
                try writer.addEntries(new.filter { $0.index < 0 }, in: zone)
            }
        }
    }

    /// Removes the entries that nothing reads any more.
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
