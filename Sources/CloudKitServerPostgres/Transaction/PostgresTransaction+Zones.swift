#if PostgreSQL
import CloudKitServerCore

extension PostgresTransaction {
    func database(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?
    ) throws -> StoredDatabase? {
        let key = DatabaseKey(environment: environment, owner: owner)
        if let known = cache.databases[key] { return known }
        try read(StorageNeeds(in: key))
        return cache.databases[key] ?? nil
    }

    func database(_ id: RowID<StoredDatabase>) throws -> StoredDatabase? {
        if let known = cache.databaseRows[id] { return known }
        let found = try all(
            Self.selectDatabase + " WHERE id = $1",
            [.int(id.rawValue)],
            Self.database
        ).first
        cache.databaseRows[id] = .some(found)
        if let found { cache.store(found) }
        return found
    }

    func databases(_ environment: RowID<StoredEnvironment>) throws -> [StoredDatabase] {
        try all(
            Self.selectDatabase + " WHERE environment = $1 ORDER BY id",
            [.int(environment.rawValue)],
            Self.database
        )
    }

    func addDatabase(
        _ environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?,
        incarnation: Int64
    ) throws -> StoredDatabase {
        try requireEverything()
        let database = StoredDatabase(
            id: RowID(rawValue: try takeNumber()),
            environment: environment,
            owner: owner,
            incarnation: incarnation,
            headSequence: 0
        )
        state.changes.addApart(
            """
            INSERT INTO database (id, environment, owner, incarnation, head_sequence)
            VALUES ($1, $2, $3, $4, 0)
            """,
            [
                .int(database.id.rawValue), .int(environment.rawValue),
                .int(owner?.rawValue ?? 0), .int(incarnation),
            ]
        )
        cache.store(database)
        return database
    }

    func setHeadSequence(_ id: RowID<StoredDatabase>, _ sequence: Int64) throws {
        try requireReach(of: id.rawValue)
        state.changes.setHead(id, sequence)
        guard var known = cache.databaseRows[id] ?? nil else { return }
        known.headSequence = sequence
        cache.store(known)
    }

    func setIncarnation(
        _ environment: RowID<StoredEnvironment>,
        _ incarnation: Int64
    ) throws {
        try requireEverything()
        state.changes.add(
            "UPDATE database SET incarnation = $2 WHERE environment = $1",
            [.int(environment.rawValue), .int(incarnation)]
        )
        forgetDatabases()
    }

    /// Forgets rows of databases, which a statement has changed.
    func forgetDatabases() {
        cache.databases = [:]
        cache.databaseRows = [:]
    }

    // MARK: Zones

    func zone(_ database: RowID<StoredDatabase>, name: String) throws -> StoredZone? {
        let key = RowCache.ZoneName(database: database, name: name)
        if let known = cache.zones[key] { return known }
        var reads = NamedReads()
        reads.add(zone: NeedReads.Place(database: database, name: name))
        for statement in reads.statements(self) { try read(statement) }
        return cache.zones[key] ?? nil
    }

    func zone(_ id: RowID<StoredZone>) throws -> StoredZone? {
        if let known = cache.zoneRows[id] { return known }
        try read(id) { _ in }
        return cache.zoneRows[id] ?? nil
    }

    func zones(_ database: RowID<StoredDatabase>) throws -> [StoredZone] {
        if let known = cache.zoneLists[database] { return known }
        try read(NeedReads(self).zones(of: database))
        return cache.zoneLists[database] ?? []
    }

    func zones(_ environment: RowID<StoredEnvironment>) throws -> [StoredZone] {
        try all(
            Self.selectZone
                + """
                 WHERE NOT is_deleted AND database IN (
                    SELECT id FROM database WHERE environment = $1
                ) ORDER BY id
                """,
            [.int(environment.rawValue)],
            Self.zone
        )
    }

    func changedZones(
        _ database: RowID<StoredDatabase>,
        after sequence: Int64,
        limit: Int
    ) throws -> [StoredZone] {
        try all(
            Self.selectZone
                + " WHERE database = $1 AND change_sequence > $2 ORDER BY change_sequence LIMIT $3",
            [.int(database.rawValue), .int(sequence), .int(Int64(limit))],
            Self.zone
        )
    }

    func addZone(_ zone: StoredZone) throws -> StoredZone {
        try requireReach(of: zone.database.rawValue)
        var zone = zone
        zone.id = RowID(rawValue: try takeNumber())
        state.changes.addApart(
            """
            INSERT INTO zone (\(PostgresTables.zoneColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """,
            PendingChanges.values(of: zone)
        )
        cache.put(zone)
        return zone
    }

    func updateZone(_ zone: StoredZone) throws {
        try requireReach(of: zone.database.rawValue)
        state.changes.update(zone)
        cache.put(zone)
    }

    func removeContents(of zone: RowID<StoredZone>) throws {
        guard let home = try home(of: zone) else { return }
        try requireReach(of: home)
        let place: [Parameter] = [.int(home), .int(zone.rawValue)]
        state.changes.add(
            """
            DELETE FROM asset WHERE database = $1 AND record IN (
                SELECT id FROM record WHERE database = $1 AND zone = $2
            )
            """,
            place
        )
        for table in ["index_entry", "reference", "sighting", "record"] {
            state.changes.add("DELETE FROM \(table) WHERE database = $1 AND zone = $2", place)
        }
        forgetContents()
    }

    func removeZones(of environment: RowID<StoredEnvironment>) throws {
        try requireEverything()
        let tables = ["asset", "index_entry", "reference", "sighting", "record", "zone"]
        for table in tables {
            state.changes.add(
                """
                DELETE FROM \(table)
                WHERE database IN (SELECT id FROM database WHERE environment = $1)
                """,
                [.int(environment.rawValue)]
            )
        }
        state.changes.add(
            "UPDATE database SET head_sequence = 0 WHERE environment = $1",
            [.int(environment.rawValue)]
        )
        forgetDatabases()
        cache.zones = [:]
        cache.zoneRows = [:]
        cache.zoneLists = [:]
        forgetContents()
    }

    /// Forgets rows of zones, which a statement has changed.
    func forgetContents() {
        cache.records = [:]
        cache.recordRows = [:]
        cache.heads = [:]
        cache.feeds = [:]
        cache.shares = [:]
        cache.references = [:]
        cache.owningReferences = [:]
        cache.scans = [:]
        cache.counts = [:]
    }
}
#endif
