#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PostgresTransaction {
    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord? {
        let key = RowCache.RecordName(zone: zone, name: name)
        if let known = cache.records[key] { return known }
        try read(zone) { $0.records = [name] }
        return cache.records[key] ?? nil
    }

    func record(
        _ id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecord? {
        let key = RowCache.RecordRow(zone: zone, id: id)
        if let known = cache.recordRows[key] { return known }
        try read(zone) { $0.rows = [id] }
        return cache.recordRows[key] ?? nil
    }

    func head(
        of id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecordHead? {
        let key = RowCache.RecordRow(zone: zone, id: id)
        if let known = cache.recordRows[key] { return known.map(Self.head) }
        if let known = cache.heads[key] { return known }
        try read(zone) { $0.heads = [id] }
        return cache.heads[key] ?? nil
    }

    private static func head(_ record: StoredRecord) -> StoredRecordHead {
        var head = record
        head.fields = Data()
        head.extra = nil
        return StoredRecordHead(head, fieldBytes: record.fields.count)
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try feed(zone, StorageNeeds.Feed(from: sequence, isReverse: false, limit: limit))
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try feed(zone, StorageNeeds.Feed(from: sequence, isReverse: true, limit: limit))
    }

    /// The number of records beyond which those that were read are forgotten before others are.
    private static let keptRecords = 10_000

    private func feed(
        _ zone: RowID<StoredZone>,
        _ page: StorageNeeds.Feed
    ) throws -> [StoredRecord] {
        let key = RowCache.Feed(zone: zone, page: page)
        if let known = cache.feeds[key] { return known }
        // A check reads whole zones, of which no memory can keep all rows.
        if cache.recordRows.count > Self.keptRecords { forgetContents() }
        try read(zone) { $0.feeds = [page] }
        return cache.feeds[key] ?? []
    }

    func changeCount(_ zone: RowID<StoredZone>, after sequence: Int64) throws -> Int {
        guard let home = try home(of: zone) else { return 0 }
        return try all(
            "SELECT count(*) FROM record WHERE database = $1 AND zone = $2 AND sequence > $3",
            [.int(home), .int(zone.rawValue), .int(sequence)]
        ) { Int($0.int(0)) }.first ?? 0
    }

    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord] {
        // A tombstone with children is kept, because they name it as their parent.
        try all(
            """
            SELECT \(Self.recordColumns("old.")) FROM record AS old
            WHERE old.is_deleted AND old.modified_at < $1 AND NOT EXISTS (
                SELECT 1 FROM record AS child
                WHERE child.database = old.database AND child.zone = old.zone
                    AND child.parent = old.name
            )
            ORDER BY old.modified_at, old.id LIMIT $2
            """,
            [.int(milliseconds), .int(Int64(limit))],
            Self.record
        )
    }

    func shares(_ zone: RowID<StoredZone>) throws -> [String] {
        if let known = cache.shares[zone] { return known }
        try read(zone) { $0.hasShares = true }
        return cache.shares[zone] ?? []
    }

    func children(
        _ zone: RowID<StoredZone>,
        of parent: String,
        limit: Int
    ) throws -> [StoredRecord] {
        guard let home = try home(of: zone) else { return [] }
        let found = try all(
            Self.selectRecord
                + " WHERE database = $1 AND zone = $2 AND parent = $3 ORDER BY id LIMIT $4",
            [.int(home), .int(zone.rawValue), .text(parent), .int(Int64(limit))],
            Self.record
        )
        for record in found { cache.store(record) }
        return found
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        try sightings(zone, viewer, "sequence > $4 ORDER BY sequence", sequence, limit)
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        try sightings(zone, viewer, "sequence < $4 ORDER BY sequence DESC", sequence, limit)
    }

    private func sightings(
        _ zone: RowID<StoredZone>,
        _ viewer: RowID<StoredUser>,
        _ order: String,
        _ sequence: Int64,
        _ limit: Int
    ) throws -> [StoredSighting] {
        guard let home = try home(of: zone) else { return [] }
        return try all(
            """
            SELECT record, sequence FROM sighting
            WHERE database = $1 AND zone = $2 AND viewer = $3 AND \(order) LIMIT $5
            """,
            [
                .int(home), .int(zone.rawValue), .int(viewer.rawValue), .int(sequence),
                .int(Int64(limit)),
            ]
        ) { StoredSighting(record: RowID(rawValue: $0.int(0)), sequence: $0.int(1)) }
    }

    func references(
        _ zone: RowID<StoredZone>,
        to target: String,
        in circle: String
    ) throws -> [StoredReference] {
        let key = StorageNeeds.ReferenceKey(to: target, in: circle)
        let place = RowCache.ReferenceKey(zone: zone, key: key)
        if let known = cache.references[place] { return known }
        try read(zone) { $0.references = [key] }
        return cache.references[place] ?? []
    }

    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind,
        in circle: String
    ) throws -> Int {
        let key = StorageNeeds.ReferenceKey(to: target, in: circle)
        let place = RowCache.ReferenceKey(zone: zone, key: key)
        func count(_ list: [StoredReference]) -> Int { list.count { $0.kind == kind } }
        if let known = cache.references[place] { return count(known) }
        if kind != .parent {
            if let known = cache.owningReferences[place] { return count(known) }
            try read(zone) { $0.referenceCounts = [key] }
            return count(cache.owningReferences[place] ?? [])
        }
        guard let home = try home(of: zone) else { return 0 }
        return try all(
            """
            SELECT count(*) FROM reference
            WHERE database = $1 AND zone = $2 AND target = $3 AND circle = $4 AND kind = $5
            """,
            [
                .int(home), .int(zone.rawValue), .text(target), .text(circle),
                .int(kind.rawValue),
            ]
        ) { Int($0.int(0)) }.first ?? 0
    }

    func holdsAsset(_ checksum: Data) throws -> Bool {
        // A snapshot that is restored needs the assets that it kept.
        try all(
            """
            SELECT EXISTS (SELECT 1 FROM asset WHERE checksum = $1)
                OR EXISTS (SELECT 1 FROM kept_asset WHERE checksum = $1)
            """,
            [.bytes(checksum)]
        ) { $0.bool(0) }.first ?? false
    }

    // MARK: Indexes

    func entries(_ scan: IndexScan) throws -> [IndexEntry] {
        if let known = cache.scans[scan] { return known }
        guard let home = try home(of: scan.zone) else { return [] }
        let isAnnounced = pending.contains {
            $0.zoneRows[scan.zone]?.scans.contains(StorageNeeds.Scan(scan)) ?? false
        }
        if isAnnounced {
            try read(StorageNeeds())
            if let known = cache.scans[scan] { return known }
        }
        // Whoever announced nothing may not want the records.
        let place = NeedReads.Place(database: RowID(rawValue: home), zone: scan.zone)
        let (sql, parameters) = NeedReads.entries(scan, of: place)
        return try all(sql, parameters) { row in
            IndexEntry(
                index: scan.index,
                key: row.bytes(0),
                record: RowID(rawValue: row.int(1))
            )
        }
    }

    func entryCount(_ scan: IndexScan) throws -> Int {
        if let known = cache.counts[scan] { return known }
        try read(scan.zone) { $0.counts = [StorageNeeds.Scan(scan)] }
        return cache.counts[scan] ?? 0
    }
}
#endif
