import CloudKitWire

/// The fields that an import drops, with the removal of their values from all records.
///
/// A commit that did all of it would hold up every other request for as long as it takes. So the
/// values go first, in commits of a few records: those of each type's records, by the index of all of
/// them, and then those that were saved meanwhile. What was saved during that second pass alone is
/// left for the commit that drops the fields. An import that is interrupted leaves fields with fewer
/// values, and the next one goes on.
struct DroppedFields: Sendable {
    /// The place in a zone's change feed before which no record has a value of the fields.
    private struct Place: Sendable {
        /// That of the zone and its database, which changes when older records are brought back.
        var incarnation: Int64
        var sequence: Int64
    }

    private static let recordsPerCommit = 200

    private let environment: RowID<StoredEnvironment>
    /// The names of the fields by their record type.
    private let names: [String: Set<String>]
    private var places: [RowID<StoredZone>: Place] = [:]

    init(_ names: [String: Set<String>], of environment: RowID<StoredEnvironment>) {
        self.names = names
        self.environment = environment
    }

    /// Removes the values that the records have, in small commits.
    mutating func removeValues(_ storage: any Storage) async throws {
        guard !names.isEmpty else { return }
        let zones = try await storage.read { [environment] in try $0.zones(environment).map(\.id) }
        for zone in zones { try await removeValues(in: zone, storage) }
    }

    private mutating func removeValues(
        in zone: RowID<StoredZone>,
        _ storage: any Storage
    ) async throws {
        // Whatever is saved from now on has a higher number.
        guard var place = try await storage.read({ try Self.end(of: zone, $0) }) else { return }
        for type in names.keys.sorted() { try await removeValues(of: type, in: zone, storage) }
        let end = try await storage.read { try Self.end(of: zone, $0) }
        while let end, end.incarnation == place.incarnation, place.sequence < end.sequence {
            try Task.checkCancellation()
            let (found, next) = try await storage.read { [self, place] in
                try holders(in: zone, after: place.sequence, $0)
            }
            try await removeValues(from: found, in: zone, storage)
            place.sequence = next ?? end.sequence
        }
        places[zone] = place
    }

    /// Removes the values of one type's records.
    private func removeValues(
        of type: String,
        in zone: RowID<StoredZone>,
        _ storage: any Storage
    ) async throws {
        var last: IndexEntry?
        repeat {
            try Task.checkCancellation()
            let (found, next) = try await storage.read { [self, last] reader in
                guard let schema = try Schema(reader.schema(environment)).types[type] else {
                    return ([] as [RowID<StoredRecord>], nil as IndexEntry?)
                }
                let entries = try reader.entries(
                    IndexScan(
                        zone: zone,
                        index: schema.nameIndex,
                        after: last,
                        limit: Self.recordsPerCommit
                    )
                )
                let records = try entries.compactMap { try reader.record($0.record, in: zone) }
                let isEnd = entries.count < Self.recordsPerCommit
                return (try holders(among: records), isEnd ? nil : entries.last)
            }
            try await removeValues(from: found, in: zone, storage)
            last = next
        } while last != nil
    }

    private func removeValues(
        from records: [RowID<StoredRecord>],
        in zone: RowID<StoredZone>,
        _ storage: any Storage
    ) async throws {
        guard !records.isEmpty else { return }
        try await storage.write { [self] in try removeValues(from: records, in: zone, $0) }
    }

    /// Removes the values that were saved since, in the commit that drops the fields.
    ///
    /// - Parameters:
    ///   - dropped: The fields that it drops, which are others when the schema has grown meanwhile.
    ///   - writer: The commit.
    /// - Throws: `StorageError`.
    func removeRest(of dropped: [String: Set<String>], _ writer: any StorageWriter) throws {
        guard !dropped.isEmpty else { return }
        let known = dropped == names ? places : [:]
        let rest = Self(dropped, of: environment)
        for zone in try writer.zones(environment) {
            let place = known[zone.id]
            let end = try Self.end(of: zone.id, writer)
            let isKnown = place?.incarnation == end?.incarnation
            var sequence: Int64? = isKnown ? place?.sequence ?? -1 : -1
            while let after = sequence {
                let (found, next) = try rest.holders(in: zone.id, after: after, writer)
                try rest.removeValues(from: found, in: zone.id, writer)
                sequence = next
            }
        }
    }

    private func removeValues(
        from records: [RowID<StoredRecord>],
        in zone: RowID<StoredZone>,
        _ writer: any StorageWriter
    ) throws {
        guard !records.isEmpty,
            var removal = try ValueRemoval(in: zone, Schema(writer.schema(environment)), writer)
        else { return }
        for id in records {
            guard let record = try writer.record(id, in: zone), let names = names[record.type]
            else {
                continue
            }
            try removal.remove(names, from: record)
        }
        try removal.finish()
    }

    /// Returns which of the next changed records have values of the fields, and the number of the
    /// last one that was looked at; nil for it at the end.
    private func holders(
        in zone: RowID<StoredZone>,
        after sequence: Int64,
        _ reader: any StorageReader
    ) throws -> (found: [RowID<StoredRecord>], next: Int64?) {
        let limit = Self.recordsPerCommit
        let records = try reader.changedRecords(zone, after: sequence, limit: limit)
        let isEnd = records.count < limit
        return (try holders(among: records), isEnd ? nil : records.last?.sequence)
    }

    private func holders(among records: [StoredRecord]) throws -> [RowID<StoredRecord>] {
        try records.filter { record in
            guard !record.isDeleted, let names = names[record.type] else { return false }
            return try !names.isDisjoint(with: RecordFields(of: record).fields.keys)
        }.map(\.id)
    }

    /// Returns the end of a zone's change feed; nil if the zone was deleted.
    private static func end(
        of id: RowID<StoredZone>,
        _ reader: any StorageReader
    ) throws -> Place? {
        guard let zone = try reader.zone(id), !zone.isDeleted,
            let database = try reader.database(zone.database)
        else { return nil }
        return Place(
            incarnation: zone.incarnation &+ database.incarnation,
            sequence: zone.headSequence
        )
    }
}
