import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection {
    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord? {
        try first(Self.selectRecord + " WHERE zone = ? AND name = ?", [try content(zone), name]) {
            Self.record($0, zone)
        }
    }

    func record(
        _ id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecord? {
        let content = try content(zone)
        return try first(Self.selectRecord + " WHERE id = ?", [id.rawValue]) { row in
            row[1] == content ? Self.record(row, zone) : nil
        } ?? nil
    }

    func head(
        of id: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws -> StoredRecordHead? {
        let content = try content(zone)
        // The length of a value precedes it, so that large values are not read.
        return try first(
            """
            SELECT id, zone, name, type, sequence, createdAt, createdBy, modifiedAt, modifiedBy,
                isDeleted, parent, share, hasAssets, x'' AS fields, NULL AS extra,
                NULL AS checksum, length(fields)
            FROM record WHERE id = ?
            """,
            [id.rawValue]
        ) { row in
            row[1] == content
                ? StoredRecordHead(Self.record(row, zone), fieldBytes: row[16]) : nil
        } ?? nil
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + " WHERE zone = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            [try content(zone), sequence, limit]
        ) { Self.record($0, zone) }
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + " WHERE zone = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [try content(zone), sequence, limit]
        ) { Self.record($0, zone) }
    }

    func changeCount(_ zone: RowID<StoredZone>, after sequence: Int64) throws -> Int {
        try first(
            "SELECT count(*) FROM record WHERE zone = ? AND sequence > ?",
            [try content(zone), sequence]
        ) { $0[0] } ?? 0
    }

    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord> {
        RowID(
            rawValue: try insert(
                """
                INSERT INTO record (zone, name, type, sequence, createdAt, createdBy, modifiedAt,
                    modifiedBy, isDeleted, parent, share, hasAssets, fields, extra, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [try contentToFill(record.zone)] + Self.values(of: record),
                to: .contents
            )
        )
    }

    func updateRecord(_ record: StoredRecord) throws {
        try run(
            """
            UPDATE record
            SET name = ?, type = ?, sequence = ?, createdAt = ?, createdBy = ?,
                modifiedAt = ?, modifiedBy = ?, isDeleted = ?, parent = ?, share = ?,
                hasAssets = ?, fields = ?, extra = ?, checksum = ?
            WHERE id = ?
            """,
            Self.values(of: record) + [record.id.rawValue],
            to: .contents
        )
    }

    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord] {
        // A tombstone with children is kept, because they name it as their parent.
        try all(
            Self.selectRecord + """
                 AS old WHERE isDeleted AND modifiedAt < ? AND NOT EXISTS (
                    SELECT 1 FROM record AS child
                    WHERE child.zone = old.zone AND child.parent = old.name
                ) AND EXISTS (SELECT 1 FROM zone WHERE content = old.zone)
                ORDER BY modifiedAt, id LIMIT ?
                """,
            [milliseconds, limit]
        ) { row in
            try zone(withContent: row[1]).map { Self.record(row, $0) }
        }.compactMap(\.self)
    }

    func removeRecord(_ id: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        try run("DELETE FROM sighting WHERE record = ?", [id.rawValue])
        try run("DELETE FROM record WHERE id = ?", [id.rawValue])
    }

    func shares(_ zone: RowID<StoredZone>) throws -> [String] {
        try all(
            """
            SELECT DISTINCT share FROM record
            WHERE zone = ? AND share IS NOT NULL AND NOT isDeleted ORDER BY share
            """,
            [try content(zone)]
        ) { $0[0] }
    }

    func references(
        _ zone: RowID<StoredZone>,
        to target: String,
        in circle: String
    ) throws -> [StoredReference] {
        try all(
            """
            SELECT source, kind FROM reference WHERE zone = ? AND target = ? AND circle = ?
            ORDER BY source, kind
            """,
            [try content(zone), target, circle]
        ) { row in
            guard let kind = StoredReference.Kind(rawValue: row[1]) else {
                throw StorageError(.corrupt, "A reference is of an unknown kind")
            }
            return StoredReference(
                source: RowID(rawValue: row[0]),
                target: target,
                kind: kind,
                circle: circle
            )
        }
    }

    func referenceCount(
        _ zone: RowID<StoredZone>,
        to target: String,
        _ kind: StoredReference.Kind,
        in circle: String
    ) throws -> Int {
        try first(
            """
            SELECT count(*) FROM reference
            WHERE zone = ? AND target = ? AND circle = ? AND kind = ?
            """,
            [try content(zone), target, circle, kind.rawValue]
        ) { $0[0] } ?? 0
    }

    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws {
        try run(
            """
            INSERT OR IGNORE INTO reference (zone, target, circle, kind, source)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                try contentToFill(zone), reference.target, reference.circle,
                reference.kind.rawValue,
                reference.source.rawValue,
            ],
            to: .contents
        )
    }

    func removeReferences(
        from source: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        try run("DELETE FROM reference WHERE source = ?", [source.rawValue], to: .contents)
    }

    func holdsAsset(_ checksum: Data) throws -> Bool {
        // Discarded contents only wait for their removal.
        let isHeld = try first(
            """
            SELECT 1 FROM asset JOIN record ON record.id = asset.record
                JOIN content ON content.id = record.zone
            WHERE asset.checksum = ? AND NOT isDiscarded LIMIT 1
            """,
            [checksum]
        ) { _ in true }
        if isHeld == true { return true }
        // A snapshot that is restored needs the assets that it kept.
        for table in try snapshotTables(of: "asset") {
            let sql = "SELECT 1 FROM \(table) WHERE checksum = ? AND wasThere LIMIT 1"
            if try first(sql, [checksum], { _ in true }) == true { return true }
        }
        return false
    }

    func setAssets(
        _ checksums: [Data],
        of record: RowID<StoredRecord>,
        in zone: RowID<StoredZone>
    ) throws {
        try run("DELETE FROM asset WHERE record = ?", [record.rawValue], to: .contents)
        for checksum in checksums {
            try run(
                "INSERT OR IGNORE INTO asset (checksum, record) VALUES (?, ?)",
                [checksum, record.rawValue],
                to: .contents
            )
        }
    }

    /// The columns of ``record(_:_:)``.
    static let recordColumns = [
        "id", "zone", "name", "type", "sequence", "createdAt", "createdBy", "modifiedAt",
        "modifiedBy", "isDeleted", "parent", "share", "hasAssets", "fields", "extra", "checksum",
    ]

    static let selectRecord = "SELECT \(recordColumns.joined(separator: ", ")) FROM record"

    private static func values(of record: StoredRecord) -> [Argument] {
        [
            record.name, record.type, record.sequence, record.created.milliseconds,
            record.created.user, record.modified.milliseconds, record.modified.user,
            record.isDeleted, record.parent, record.share, record.hasAssets, record.fields,
            record.extra, record.checksum,
        ]
    }

    /// Returns a record of the zone whose content the row belongs to.
    static func record(_ row: Row, _ zone: RowID<StoredZone>) -> StoredRecord {
        var record = StoredRecord(
            id: RowID(rawValue: row[0]),
            zone: zone,
            name: row[2],
            type: row[3],
            sequence: row[4],
            created: StoredRecord.Stamp(milliseconds: row[5], user: row[6]),
            modified: StoredRecord.Stamp(milliseconds: row[7], user: row[8]),
            isDeleted: row[9],
            parent: row[10],
            share: row[11],
            hasAssets: row[12],
            fields: row[13],
            extra: row[14]
        )
        // A head is read without its checksum.
        record.check(against: row[15])
        return record
    }
}
