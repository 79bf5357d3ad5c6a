import CloudKitServerCore
import GRDB

// What differs between a snapshot and another one, or now. A zone whose contents go by the same number in
// both differs in rows that one of them kept alone, so that it costs as much as was changed since.
extension SQLiteConnection {
    /// A state of a container: a snapshot's, or, without a number, that of now.
    private struct State {
        struct ZoneName: Hashable, Comparable {
            var database: Int64
            var name: String

            static func < (first: Self, second: Self) -> Bool {
                (first.database, first.name) < (second.database, second.name)
            }
        }

        var snapshot: Int64?
        /// The contents of its zones.
        var zones: [ZoneName: Int64]

        /// A query of the numbers of the records that changed since; nil for now.
        var changed: String? { snapshot.map { "SELECT id FROM snapshot\($0)record" } }

        /// A query of the records of a content, or of some of them, as they are in this state.
        func records(of content: Int64, among ids: String?) -> String {
            let columns = "SELECT name, type, fields, parent, share, extra FROM"
            let some = ids.map { " AND id IN (\($0))" } ?? ""
            let condition = "WHERE zone = \(content) AND NOT isDeleted" + some
            guard let snapshot, let changed else { return "\(columns) record \(condition)" }
            return """
                \(columns) record \(condition) AND id NOT IN (\(changed))
                UNION ALL \(columns) snapshot\(snapshot)record \(condition) AND wasThere
                """
        }
    }

    func snapshotDifferences(
        of container: String,
        from earlier: String,
        to later: String?,
        implicitZone: String,
        limit: Int
    ) throws -> [SnapshotDifference] {
        let (old, new) = (try state(of: container, earlier), try state(of: container, later))
        var differences: [SnapshotDifference] = []
        for name in Set(old.zones.keys).union(new.zones.keys).sorted()
        where differences.count < limit {
            let database = RowID<StoredDatabase>(rawValue: name.database)
            let zone = (old.zones[name], new.zones[name])
            guard case (let before?, let after?) = zone else {
                if name.name == implicitZone {
                    guard try hasRecords(old, zone.0) || hasRecords(new, zone.1) else { continue }
                }
                differences.append(
                    SnapshotDifference(
                        zone.0 == nil ? .added : .deleted,
                        database: database,
                        zone: name.name
                    )
                )
                continue
            }
            let ids =
                before == after
                ? [old.changed, new.changed].compactMap(\.self).joined(separator: " UNION ") : nil
            try forEach(
                Self.comparison(
                    old.records(of: before, among: ids),
                    new.records(of: after, among: ids)
                ),
                [limit - differences.count]
            ) { row in
                guard let kind = SnapshotDifference.Kind(rawValue: row[2]) else { return }
                differences.append(
                    SnapshotDifference(
                        kind,
                        database: database,
                        zone: name.name,
                        record: row[0],
                        type: row[1]
                    )
                )
            }
        }
        return differences
    }

    /// Returns whether a content has records in a state; a zone that is not there has none.
    private func hasRecords(_ state: State, _ content: Int64?) throws -> Bool {
        guard let content else { return false }
        let records = state.records(of: content, among: nil)
        return try first("SELECT EXISTS (\(records))") { $0[0] } ?? false
    }

    private func state(of container: String, _ name: String?) throws -> State {
        var snapshot: Int64?
        if let name {
            snapshot = try self.snapshot(container, name)
            guard snapshot != nil else { throw StorageError(.other, "No snapshot of that name") }
        }
        var zones: [State.ZoneName: Int64] = [:]
        let all = snapshot.map { "snapshot\($0)zone" } ?? "zone"
        try forEach(
            """
            SELECT database, name, content FROM \(all) WHERE NOT isDeleted AND database IN (
                SELECT database.id FROM database
                JOIN environment ON environment.id = database.environment
                WHERE environment.container = ?)
            """,
            [container]
        ) { row in
            zones[State.ZoneName(database: row[0], name: row[1])] = row[2]
        }
        return State(snapshot: snapshot, zones: zones)
    }

    private static func comparison(_ old: String, _ new: String) -> String {
        let columns = ["type", "fields", "parent", "share", "extra"]
        let differs = columns.map { "new.\($0) IS NOT old.\($0)" }.joined(separator: " OR ")
        // Each side is read once, and not for each row of the other one.
        return """
            WITH old AS MATERIALIZED (\(old)), new AS MATERIALIZED (\(new))
            SELECT old.name, old.type, 'deleted' FROM old LEFT JOIN new ON new.name = old.name
            WHERE new.name IS NULL
            UNION ALL
            SELECT new.name, new.type, iif(old.name IS NULL, 'added', 'changed')
            FROM new LEFT JOIN old ON old.name = new.name
            WHERE old.name IS NULL OR \(differs)
            ORDER BY 1 LIMIT ?
            """
    }
}
