import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection {
    func record(_ zone: RowID<StoredZone>, name: String) throws -> StoredRecord? {
        try first(
            Self.selectRecord + " WHERE zone = ? AND name = ?",
            [zone.rawValue, name],
            Self.record
        )
    }

    func record(_ id: RowID<StoredRecord>) throws -> StoredRecord? {
        try first(Self.selectRecord + " WHERE id = ?", [id.rawValue], Self.record)
    }

    func head(of id: RowID<StoredRecord>) throws -> StoredRecordHead? {
        // The length of a value stands before it: what is large is not read.
        try first(
            """
            SELECT id, zone, name, type, sequence, createdAt, createdBy, modifiedAt, modifiedBy,
                isDeleted, parent, share, hasAssets, x'' AS fields, NULL AS extra,
                NULL AS checksum, length(fields)
            FROM record WHERE id = ?
            """,
            [id.rawValue]
        ) { row in
            StoredRecordHead(Self.record(row), fieldBytes: row[16])
        }
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + " WHERE zone = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            [zone.rawValue, sequence, limit],
            Self.record
        )
    }

    func changedRecords(
        _ zone: RowID<StoredZone>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + " WHERE zone = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [zone.rawValue, sequence, limit],
            Self.record
        )
    }

    func addRecord(_ record: StoredRecord) throws -> RowID<StoredRecord> {
        RowID(
            rawValue: try insert(
                """
                INSERT INTO record (zone, name, type, sequence, createdAt, createdBy, modifiedAt,
                    modifiedBy, isDeleted, parent, share, hasAssets, fields, extra, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                Self.arguments(record),
                to: .contents
            )
        )
    }

    func updateRecord(_ record: StoredRecord) throws {
        try run(
            """
            UPDATE record
            SET zone = ?, name = ?, type = ?, sequence = ?, createdAt = ?, createdBy = ?,
                modifiedAt = ?, modifiedBy = ?, isDeleted = ?, parent = ?, share = ?,
                hasAssets = ?, fields = ?, extra = ?, checksum = ?
            WHERE id = ?
            """,
            Self.arguments(record) + [record.id.rawValue],
            to: .contents
        )
    }

    func tombstones(modifiedBefore milliseconds: Int64, limit: Int) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + """
                 AS old WHERE isDeleted AND modifiedAt < ? AND NOT EXISTS (
                    SELECT 1 FROM record AS child
                    WHERE child.zone = old.zone AND child.parent = old.name
                ) ORDER BY modifiedAt, id LIMIT ?
                """,
            [milliseconds, limit],
            Self.record
        )
    }

    func removeRecord(_ id: RowID<StoredRecord>) throws {
        try run("DELETE FROM sighting WHERE record = ?", [id.rawValue])
        try run("DELETE FROM record WHERE id = ?", [id.rawValue])
    }

    func shares(_ zone: RowID<StoredZone>) throws -> [String] {
        try all(
            """
            SELECT DISTINCT share FROM record
            WHERE zone = ? AND share IS NOT NULL AND NOT isDeleted ORDER BY share
            """,
            [zone.rawValue]
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
            [zone.rawValue, target, circle]
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
            [zone.rawValue, target, circle, kind.rawValue]
        ) { $0[0] } ?? 0
    }

    func addReference(_ reference: StoredReference, in zone: RowID<StoredZone>) throws {
        try run(
            """
            INSERT OR IGNORE INTO reference (zone, target, circle, kind, source)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                zone.rawValue, reference.target, reference.circle, reference.kind.rawValue,
                reference.source.rawValue,
            ],
            to: .contents
        )
    }

    /// Gives the references of public databases that have no circle theirs: their records' creators.
    func addMissingCircles() throws {
        try runOnce(
            """
            UPDATE reference
            SET circle = coalesce((SELECT createdBy FROM record WHERE id = source), '')
            WHERE circle = '' AND zone IN (
                SELECT zone.id FROM zone JOIN database ON database.id = zone.database
                WHERE database.owner = 0
            )
            """
        )
    }

    func removeReferences(from source: RowID<StoredRecord>) throws {
        try run("DELETE FROM reference WHERE source = ?", [source.rawValue], to: .contents)
    }

    func holdsAsset(_ checksum: Data) throws -> Bool {
        for table in ["asset"] + (try snapshotTables(of: "asset")) {
            let sql = "SELECT 1 FROM \(table) WHERE checksum = ? LIMIT 1"
            if try first(sql, [checksum], { _ in true }) == true { return true }
        }
        return false
    }

    func setAssets(_ checksums: [Data], of record: RowID<StoredRecord>) throws {
        try run("DELETE FROM asset WHERE record = ?", [record.rawValue], to: .contents)
        for checksum in checksums {
            try run(
                "INSERT OR IGNORE INTO asset (checksum, record) VALUES (?, ?)",
                [checksum, record.rawValue],
                to: .contents
            )
        }
    }

    static let selectRecord = """
        SELECT id, zone, name, type, sequence, createdAt, createdBy, modifiedAt, modifiedBy,
            isDeleted, parent, share, hasAssets, fields, extra, checksum
        FROM record
        """

    private static func arguments(_ record: StoredRecord) -> [Argument] {
        [
            record.zone.rawValue, record.name, record.type, record.sequence,
            record.created.milliseconds, record.created.user, record.modified.milliseconds,
            record.modified.user, record.isDeleted, record.parent, record.share, record.hasAssets,
            record.fields, record.extra, record.checksum,
        ]
    }

    static func record(_ row: Row) -> StoredRecord {
        var record = StoredRecord(
            id: RowID(rawValue: row[0]),
            zone: RowID(rawValue: row[1]),
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
        // Rows that a snapshot of older days brought back have none.
        if let checksum = row[15] as Int64? { record.isDamaged = record.checksum != checksum }
        return record
    }

    /// Gives the rows that have no checksum theirs.
    func addMissingChecksums() throws {
        let rows = try all(Self.selectRecord + " WHERE checksum IS NULL", []) { row in
            let record = Self.record(row)
            return (record.id.rawValue, record.checksum)
        }
        for (id, checksum) in rows {
            try run("UPDATE record SET checksum = ? WHERE id = ?", [checksum, id], to: .contents)
        }
    }
}
