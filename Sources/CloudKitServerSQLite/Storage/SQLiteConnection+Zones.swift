import CloudKitServerCore
import CloudKitWire
import GRDB

extension SQLiteConnection {
    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase? {
        let key = DirectoryCache.DatabaseKey(environment: environment, owner: owner)
        return try directory.databases.value(key) {
            try first(
                Self.selectDatabase + " WHERE environment = ? AND owner = ?",
                [environment.rawValue, owner?.rawValue ?? 0],
                Self.database
            )
        }
    }

    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase? {
        try first(Self.selectDatabase + " WHERE id = ?", [id.rawValue], Self.database)
    }

    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase] {
        try all(
            Self.selectDatabase + " WHERE environment = ? ORDER BY id",
            [environment.rawValue],
            Self.database
        )
    }

    func addDatabase(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?,
        incarnation: Int64
    ) throws -> StoredDatabase {
        let id = try insert(
            """
            INSERT INTO database (environment, owner, incarnation, headSequence)
            VALUES (?, ?, ?, 0)
            """,
            [environment.rawValue, owner?.rawValue ?? 0, incarnation]
        )
        return StoredDatabase(
            id: RowID(rawValue: id),
            environment: environment,
            owner: owner,
            incarnation: incarnation,
            headSequence: 0
        )
    }

    func setHeadSequence(_ id: RowID<StoredDatabase>, _ sequence: Int64) throws {
        try run("UPDATE database SET headSequence = ? WHERE id = ?", [sequence, id.rawValue])
    }

    func setIncarnation(
        _ environment: RowID<StoredEnvironment>,
        _ incarnation: Int64
    ) throws {
        try run(
            "UPDATE database SET incarnation = ? WHERE environment = ?",
            [incarnation, environment.rawValue]
        )
    }

    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone? {
        try directory.zones.value(DirectoryCache.ZoneKey(database: database, name: name)) {
            try first(
                Self.selectZone + " WHERE database = ? AND name = ?",
                [database.rawValue, name],
                zone
            )
        }
    }

    func zone(_ id: RowID<StoredZone>) throws -> StoredZone? {
        try first(Self.selectZone + " WHERE id = ?", [id.rawValue], zone)
    }

    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone] {
        try all(
            Self.selectZone + " WHERE database = ? AND NOT isDeleted ORDER BY name",
            [database.rawValue],
            zone
        )
    }

    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone] {
        try all(
            Self.selectZone
                + """
                 WHERE NOT isDeleted AND database IN (
                    SELECT id FROM database WHERE environment = ?
                ) ORDER BY id
                """,
            [environment.rawValue],
            zone
        )
    }

    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone] {
        try all(
            Self.selectZone
                + " WHERE database = ? AND changeSequence > ? ORDER BY changeSequence LIMIT ?",
            [database.rawValue, sequence, limit],
            zone
        )
    }

    func addZone(_ zone: StoredZone) throws -> StoredZone {
        var zone = zone
        zone.id = RowID(
            rawValue: try insert(
                """
                INSERT INTO zone
                    (database, name, incarnation, headSequence, changeSequence, isDeleted,
                    birthSequence, bytes, horizonSequence, deletionReason, content)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    zone.database.rawValue, zone.name, zone.incarnation, zone.headSequence,
                    zone.changeSequence, zone.isDeleted, zone.birthSequence, zone.bytes,
                    zone.horizonSequence, zone.deletionReason?.rawValue, try addContent(),
                ]
            )
        )
        return zone
    }

    func updateZone(_ zone: StoredZone) throws {
        try run(
            """
            UPDATE zone
            SET incarnation = ?, headSequence = ?, changeSequence = ?, isDeleted = ?,
                birthSequence = ?, bytes = ?, horizonSequence = ?, deletionReason = ?
            WHERE id = ?
            """,
            [
                zone.incarnation, zone.headSequence, zone.changeSequence, zone.isDeleted,
                zone.birthSequence, zone.bytes, zone.horizonSequence,
                zone.deletionReason?.rawValue, zone.id.rawValue,
            ],
            to: .contents
        )
        // Kept up to date instead of emptied: every commit updates its zone.
        let key = DirectoryCache.ZoneKey(database: zone.database, name: zone.name)
        directory.zones.replace(key, zone)
    }

    private static let selectDatabase =
        "SELECT id, environment, owner, incarnation, headSequence FROM database"

    private static func database(_ row: Row) -> StoredDatabase {
        let owner: Int64 = row[2]
        return StoredDatabase(
            id: RowID(rawValue: row[0]),
            environment: RowID(rawValue: row[1]),
            owner: owner == 0 ? nil : RowID(rawValue: owner),
            incarnation: row[3],
            headSequence: row[4]
        )
    }

    private static let selectZone = """
        SELECT id, database, name, incarnation, headSequence, changeSequence, isDeleted,
            birthSequence, bytes, horizonSequence, deletionReason, content
        FROM zone
        """

    private func zone(_ row: Row) -> StoredZone {
        let reason: String? = row[10]
        directory.contents.replace(RowID(rawValue: row[0]), row[11])
        directory.zonesByContent.replace(row[11], RowID(rawValue: row[0]))
        return StoredZone(
            id: RowID(rawValue: row[0]),
            database: RowID(rawValue: row[1]),
            name: row[2],
            incarnation: row[3],
            headSequence: row[4],
            changeSequence: row[5],
            isDeleted: row[6],
            birthSequence: row[7],
            bytes: row[8],
            horizonSequence: row[9],
            deletionReason: reason.map { ZoneDeletionReason(rawValue: $0) ?? .unknown }
        )
    }
}
