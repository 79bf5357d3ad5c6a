import CloudKitServerCore
import GRDB

extension SQLiteConnection {
    func children(
        _ zone: RowID<StoredZone>,
        of parent: String,
        limit: Int
    ) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + " WHERE zone = ? AND parent = ? ORDER BY id LIMIT ?",
            [try content(zone), parent, limit]
        ) { Self.record($0, zone) }
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        try all(
            Self.selectSighting + " AND sequence > ? ORDER BY sequence LIMIT ?",
            [try content(zone), viewer.rawValue, sequence, limit],
            Self.sighting
        )
    }

    func sightings(
        _ zone: RowID<StoredZone>,
        of viewer: RowID<StoredUser>,
        before sequence: Int64,
        limit: Int
    ) throws -> [StoredSighting] {
        try all(
            Self.selectSighting + " AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [try content(zone), viewer.rawValue, sequence, limit],
            Self.sighting
        )
    }

    func putSightings(
        _ sightings: [StoredSighting],
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) throws {
        let content = try contentToFill(zone)
        for sighting in sightings {
            // Only the newest sighting of a record is listed.
            try run(
                """
                INSERT OR REPLACE INTO sighting (record, viewer, zone, sequence)
                VALUES (?, ?, ?, ?)
                """,
                [
                    sighting.record.rawValue, viewer.rawValue, content, sighting.sequence,
                ],
                to: .contents
            )
        }
    }

    private static let selectSighting =
        "SELECT record, sequence FROM sighting WHERE zone = ? AND viewer = ?"

    private static func sighting(_ row: Row) -> StoredSighting {
        StoredSighting(record: RowID(rawValue: row[0]), sequence: row[1])
    }
}
