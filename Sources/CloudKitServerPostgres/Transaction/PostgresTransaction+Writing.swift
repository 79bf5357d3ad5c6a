#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PostgresTransaction: StorageWriter {
    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord> {
        let home = try homeToFill(record.zone)
        var record = record
        record.id = RowID(rawValue: try takeNumber())
        state.changes.change(home, bytes: Self.bytes(of: record)) { $0.add(record) }
        cache.put(record)
        try sendManyChanges()
        return record.id
    }

    func updateRecord(_ record: StoredRecord) throws {
        let home = try homeToFill(record.zone)
        state.changes.change(home, bytes: Self.bytes(of: record)) { $0.update(record) }
        cache.put(record)
        try sendManyChanges()
    }

    private static func bytes(of record: StoredRecord) -> Int {
        256 + record.fields.count + (record.extra?.count ?? 0)
    }

    func removeRecord(_ id: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        let home = try homeToFill(zone)
        state.changes.change(home) { $0.remove(id) }
        cache.remove(RowCache.RecordRow(zone: zone, id: id))
    }

    // MARK: Indexes

    func addEntries(_ entries: [IndexEntry], in zone: RowID<StoredZone>) throws {
        guard !entries.isEmpty else { return }
        let home = try homeToFill(zone)
        state.changes.change(home, bytes: 128 * entries.count) { changes in
            for entry in entries { changes.setEntry(entry, in: zone, isThere: true) }
        }
        cache.entriesChanged(in: zone)
        try sendManyChanges()
    }

    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        guard let home = try home(of: zone) else { return }
        try requireReach(of: home)
        state.changes.change(home) { $0.setEntry(entry, in: zone, isThere: false) }
        cache.entriesChanged(in: zone)
    }

    func removeEntries(of record: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        guard let home = try home(of: zone) else { return }
        try requireReach(of: home)
        state.changes.add(
            "DELETE FROM index_entry WHERE database = $1 AND zone = $2 AND record = $3",
            [.int(home), .int(zone.rawValue), .int(record.rawValue)]
        )
        cache.entriesChanged(in: zone)
    }

    func removeEntries(index: Int64, _ environment: RowID<StoredEnvironment>) throws {
        try requireEverything()
        state.changes.add(
            """
            DELETE FROM index_entry
            WHERE number = $1 AND database IN (SELECT id FROM database WHERE environment = $2)
            """,
            [.int(index), .int(environment.rawValue)]
        )
        forgetEntries()
    }

    func addMissingEntries(
        index: Int64,
        key: Data,
        for known: Int64,
        _ environment: RowID<StoredEnvironment>
    ) throws {
        try requireEverything()
        state.changes.add(
            """
            INSERT INTO index_entry (database, zone, number, key, record)
            SELECT DISTINCT known.database, known.zone, $1::bigint, $2::bytea, known.record
            FROM index_entry AS known
            WHERE known.number = $3
                AND known.database IN (SELECT id FROM database WHERE environment = $4)
                AND NOT EXISTS (
                    SELECT 1 FROM index_entry AS entry
                    WHERE entry.database = known.database AND entry.zone = known.zone
                        AND entry.number = $1 AND entry.record = known.record
                )
            """,
            [.int(index), .bytes(key), .int(known), .int(environment.rawValue)]
        )
        forgetEntries()
    }

    private func forgetEntries() {
        cache.scans = [:]
        cache.counts = [:]
    }

    // MARK: Beside the records

    func putSightings(
        _ sightings: [StoredSighting],
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) throws {
        guard !sightings.isEmpty else { return }
        let home = try homeToFill(zone)
        state.changes.change(home, bytes: 64 * sightings.count) { changes in
            for sighting in sightings { changes.put(sighting, of: viewer, in: zone) }
        }
    }

    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws {
        let home = try homeToFill(zone)
        state.changes.change(home) { $0.add(reference, in: zone) }
        cache.add(reference, in: zone)
    }

    func removeReferences(
        from source: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        guard let home = try home(of: zone) else { return }
        try requireReach(of: home)
        state.changes.change(home) { $0.removeReferences(from: source) }
        cache.removeReferences(from: source, in: zone)
    }

    func setAssets(
        _ checksums: [Data],
        of record: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        guard let home = try home(of: zone) else { return }
        try requireReach(of: home)
        state.changes.change(home) { $0.setAssets(checksums, of: record) }
    }
}
#endif
