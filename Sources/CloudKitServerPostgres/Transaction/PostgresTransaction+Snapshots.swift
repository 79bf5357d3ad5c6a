#if PostgreSQL
import CloudKitServerCore

// A snapshot has copies of its container's rows, in tables of their own.
extension PostgresTransaction {
    func snapshots(_ container: String) throws -> [StoredSnapshot] {
        try all(
            "SELECT name, created FROM snapshot WHERE container = $1 ORDER BY name",
            [.text(container)]
        ) { row in
            StoredSnapshot(container: container, name: row.text(0), created: row.int(1))
        }
    }

    func addSnapshot(
        _ snapshot: StoredSnapshot,
        of environments: [RowID<StoredEnvironment>],
        documents collections: [String]
    ) throws {
        try requireEverything()
        try removeSnapshot(snapshot.container, snapshot.name)
        let number = Parameter.int(try takeNumber())
        state.changes.add(
            "INSERT INTO snapshot (id, container, name, created) VALUES ($1, $2, $3, $4)",
            [number, .text(snapshot.container), .text(snapshot.name), .int(snapshot.created)]
        )
        let rows = Parameter.ints(environments.map(\.rawValue))
        for part in PostgresTables.kept where part.table != "document" {
            let condition =
                switch part.table {
                case "environment": "id = ANY($2)"
                case "database": "environment = ANY($2)"
                default: "database IN (SELECT id FROM database WHERE environment = ANY($2))"
                }
            state.changes.add(
                """
                INSERT INTO kept_\(part.table) (snapshot, \(part.columns))
                SELECT $1, \(part.columns) FROM \(part.table) WHERE \(condition)
                """,
                [number, rows]
            )
        }
        for collection in collections {
            state.changes.add(
                """
                INSERT INTO kept_document (snapshot, collection, name, body)
                SELECT $4, collection, name, body FROM document WHERE \(Self.documentsIn)
                """,
                Self.bounds(of: collection) + [number]
            )
        }
    }

    func restoreSnapshot(_ container: String, _ name: String) throws {
        try requireEverything()
        guard let id = try snapshot(container, name) else {
            throw StorageError(.other, "No snapshot of that name")
        }
        state.changes.add(
            """
            UPDATE environment SET schema_version = kept.schema_version, schema = kept.schema
            FROM kept_environment AS kept WHERE kept.snapshot = $1 AND environment.id = kept.id
            """,
            [.int(id)]
        )
        state.changes.add(
            """
            UPDATE database SET incarnation = kept.incarnation, head_sequence = kept.head_sequence
            FROM kept_database AS kept WHERE kept.snapshot = $1 AND database.id = kept.id
            """,
            [.int(id)]
        )
        for part in PostgresTables.kept
        where part.table != "environment" && part.table != "database" {
            state.changes.add(
                """
                INSERT INTO \(part.table) (\(part.columns))
                SELECT \(part.columns) FROM kept_\(part.table) WHERE snapshot = $1
                """,
                [.int(id)]
            )
        }
        state.cache = RowCache()
    }

    func removeSnapshot(_ container: String, _ name: String) throws {
        try requireEverything()
        guard let id = try snapshot(container, name) else { return }
        for part in PostgresTables.kept {
            state.changes.add("DELETE FROM kept_\(part.table) WHERE snapshot = $1", [.int(id)])
        }
        state.changes.add("DELETE FROM snapshot WHERE id = $1", [.int(id)])
    }

    private func snapshot(_ container: String, _ name: String) throws -> Int64? {
        try all(
            "SELECT id FROM snapshot WHERE container = $1 AND name = $2",
            [.text(container), .text(name)]
        ) { $0.int(0) }.first
    }

    // MARK: Differences

    /// A state of a container: a snapshot's, or, without a number, that of now.
    private struct ContainerState {
        struct ZoneName: Hashable, Comparable {
            var database: Int64
            var name: String

            static func < (first: Self, second: Self) -> Bool {
                first.database == second.database
                    ? first.name.precedesByBytes(second.name) : first.database < second.database
            }
        }

        var snapshot: Int64?
        var zones: [ZoneName: Int64] = [:]

        /// Returns a query of the records of a zone, whose number and the snapshot's are at some places.
        func records(zone: Int, snapshot place: Int) -> String {
            let columns = "SELECT name, type, fields, parent, share, extra FROM"
            // The place is named in any case, so that both states have the same parameters.
            return snapshot == nil
                ? "\(columns) record WHERE database = $1 AND zone = $\(zone) AND NOT is_deleted "
                    + "AND $\(place)::bigint = 0"
                : "\(columns) kept_record WHERE snapshot = $\(place)::bigint AND database = $1 "
                    + "AND zone = $\(zone) AND NOT is_deleted"
        }
    }

    func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        implicitZone: String,
        limit: Int
    ) throws -> [SnapshotDifference] {
        let old = try containerState(container, earlier)
        let new = try containerState(container, later)
        var differences: [SnapshotDifference] = []
        for name in Set(old.zones.keys).union(new.zones.keys).sorted()
        where differences.count < limit {
            let database = RowID<StoredDatabase>(rawValue: name.database)
            guard let before = old.zones[name], let after = new.zones[name] else {
                if name.name == implicitZone {
                    let place = name.database
                    guard
                        try hasRecords(old, old.zones[name], in: place)
                            || hasRecords(new, new.zones[name], in: place)
                    else { continue }
                }
                differences.append(
                    SnapshotDifference(
                        old.zones[name] == nil ? .added : .deleted,
                        database: database,
                        zone: name.name
                    )
                )
                continue
            }
            differences += try all(
                Self.comparison(old, new),
                [
                    .int(name.database), .int(before), .int(after), .int(old.snapshot ?? 0),
                    .int(new.snapshot ?? 0), .int(Int64(limit - differences.count)),
                ]
            ) { row in
                SnapshotDifference(
                    [.added, .changed, .deleted][Int(row.int(2))],
                    database: database,
                    zone: name.name,
                    record: row.text(0),
                    type: row.text(1)
                )
            }
        }
        return differences
    }

    private func hasRecords(
        _ state: ContainerState,
        _ zone: Int64?,
        in database: Int64
    ) throws -> Bool {
        guard let zone else { return false }
        return try all(
            "SELECT EXISTS (\(state.records(zone: 2, snapshot: 3)))",
            [.int(database), .int(zone), .int(state.snapshot ?? 0)]
        ) { $0.bool(0) }.first ?? false
    }

    private func containerState(_ container: String, _ name: String?) throws -> ContainerState {
        var state = ContainerState()
        if let name {
            state.snapshot = try snapshot(container, name)
            guard state.snapshot != nil else {
                throw StorageError(.other, "No snapshot of that name")
            }
        }
        let source =
            state.snapshot == nil
            ? "zone WHERE $2::bigint = 0 AND" : "kept_zone WHERE snapshot = $2::bigint AND"
        let zones = try all(
            """
            SELECT database, name, id FROM \(source) NOT is_deleted AND database IN (
                SELECT database.id FROM database
                JOIN environment ON environment.id = database.environment
                WHERE environment.container = $1)
            """,
            [.text(container), .int(state.snapshot ?? 0)]
        ) { (ContainerState.ZoneName(database: $0.int(0), name: $0.text(1)), $0.int(2)) }
        for (name, id) in zones { state.zones[name] = id }
        return state
    }

    private static func comparison(_ old: ContainerState, _ new: ContainerState) -> String {
        """
        WITH old AS MATERIALIZED (\(old.records(zone: 2, snapshot: 4))),
            new AS MATERIALIZED (\(new.records(zone: 3, snapshot: 5)))
        SELECT coalesce(new.name, old.name), coalesce(new.type, old.type),
            CASE WHEN old.name IS NULL THEN 0::bigint WHEN new.name IS NULL THEN 2 ELSE 1 END
        FROM old FULL JOIN new ON new.name = old.name
        WHERE old.name IS NULL OR new.name IS NULL
            OR (new.type, new.fields, new.parent, new.share, new.extra)
                IS DISTINCT FROM (old.type, old.fields, old.parent, old.share, old.extra)
        ORDER BY 1 LIMIT $6
        """
    }
}
#endif
