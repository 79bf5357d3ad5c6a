import GRDB

/// The triggers that place new and moved rows, and refuse writes that a share does not allow.
///
/// They are installed once something in the file is shared, so other files have no cost.
struct SharingTriggers {
    private let table: TableSchema
    private let catalog: TableCatalog

    /// Installs the triggers of all tables if they are missing or different.
    static func install(_ catalog: TableCatalog, in database: Database) throws {
        for table in catalog.tables {
            try SharingTriggers(table: table, catalog: catalog).install(in: database)
        }
    }

    /// Removes the triggers of a table that is no longer synced.
    static func remove(from table: String, in database: Database) throws {
        for kind in Kind.allCases {
            let name = "grdb_cloudkit_share_\(kind.rawValue)_\(table)"
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(name.quoted)")
        }
    }

    /// Removes the triggers that name a table, of whatever table, before a migration changes it.
    static func remove(naming table: String, in database: Database) throws {
        let names = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'trigger'
                    AND substr(name, 1, 20) = 'grdb_cloudkit_share_' AND instr(lower(sql), lower(?))
                """,
            arguments: [table.quoted]
        )
        for name in names { try database.execute(sql: "DROP TRIGGER \(name.quoted)") }
    }

    private enum Kind: String, CaseIterable {
        case mayInsert
        case mayUpdate
        case mayMove
        case mayDelete
        case inserted
        case moved
    }

    private func install(in database: Database) throws {
        for kind in Kind.allCases {
            let name = "grdb_cloudkit_share_\(kind.rawValue)_\(table.name)"
            let sql = body(kind).map { event, condition, body in
                """
                CREATE TRIGGER \(name.quoted) \(event) ON \(table.name.quoted)
                WHEN (SELECT applying FROM grdb_cloudkit_control) = 0 AND \(condition) BEGIN
                    \(body)
                END
                """
            }
            guard try database.trigger(name) != sql else { continue }
            try database.execute(sql: "DROP TRIGGER IF EXISTS \(name.quoted)")
            if let sql { try database.execute(sql: sql) }
        }
    }

    private func body(_ kind: Kind) -> (event: String, condition: String, body: String)? {
        let columns = table.columns.map(\.name.quoted).joined(separator: ", ")
        switch kind {
        case .mayInsert:
            let body = [
                dropStray(), staysOwn(if: isThere()), takesDeletedKey,
                takesWaitingKey(if: "NOT \(isThere())"),
            ]
            return ("BEFORE INSERT", "true", body.joined(separator: "\n    "))
        case .mayUpdate:
            let changes = table.columns.map { differs($0) }.joined(separator: " OR ")
            let rekeys = table.keyColumns.map(differs).joined(separator: " OR ")
            let body: [String?] = [
                refuse("changed"), keepTop("given another key", if: rekeys), dropStray(if: rekeys),
                takesOthersKey(if: rekeys), takesWaitingKey(if: rekeys), keepZone(if: rekeys),
            ]
            return (
                "BEFORE UPDATE OF \(columns)", "(\(changes))",
                body.compactMap(\.self).joined(separator: "\n    ")
            )
        case .mayMove:
            guard !references.isEmpty else { return nil }
            let body: [String?] =
                references.map { leaves($0, zone(ifMoved: moves), if: differs($0)) }
                + [parentWrites(if: moves)]
            let names = references.map(\.name.quoted).joined(separator: ", ")
            return (
                "BEFORE UPDATE OF \(names)", "true",
                body.compactMap(\.self).joined(separator: "\n    ")
            )
        case .mayDelete:
            let body = [keepTop("deleted"), refuse("deleted")]
            return ("BEFORE DELETE", "true", body.joined(separator: "\n    "))
        case .inserted:
            // Before the insert, it is unknown whether it becomes an update, or nothing at all.
            let checks =
                [refuse("replaced", "NEW"), keepBelowTop, takesKey, parentWrites()]
                // The row may refer to itself, so its place is set first.
                + [inherit, JoinedZone.join(table)] + references.map { leaves($0, newZone) }
            return ("AFTER INSERT", "true", checks.compactMap(\.self).joined(separator: "\n    "))
        case .moved:
            guard let inherit, let parent = table.parentColumn else { return nil }
            let keys = table.keyColumns.map(\.name.quoted) + [parent.name.quoted]
            let leaving = LeavingTree(table, catalog, above: select("1", above("NEW")))
            let body = [
                "SELECT \(raise(leavesTree)) \(leaving.condition);", leaving.leave, inherit,
            ]
            return (
                "AFTER UPDATE OF \(keys.joined(separator: ", "))", "true",
                body.joined(separator: "\n    ")
            )
        }
    }

    // MARK: SQL

    /// The columns that must refer to rows of the row's zone; those of rows whose format another client determines
    /// are checked when they are sent, because new rows follow the rows that they refer to.
    private var references: [TableColumn] {
        table.format == nil ? table.columns.filter { $0.target != nil } : []
    }

    private typealias Target = (table: TableSchema, key: String)

    /// Returns the row that a column of a row refers to.
    private func target(_ column: TableColumn, _ row: String) -> Target? {
        guard let name = column.target, let target = catalog[name],
            let key = target.keyColumns.first
        else { return nil }
        return (target, RowKey.sql(of: "\(row).\(column.name.quoted)", key))
    }

    /// Returns the row with which a row is shared.
    private func above(_ row: String) -> Target? {
        table.parentColumn.flatMap { target($0, row) }
    }

    private func select(_ what: String, _ target: Target?) -> String {
        guard let target else { return "SELECT NULL WHERE false" }
        return "SELECT \(what) FROM grdb_cloudkit_place WHERE tbl = \(target.table.name.literal) "
            + "AND key = \(target.key)"
    }

    private func place(_ column: String, _ target: Target?) -> String {
        "(\(select(column, target)))"
    }

    /// The condition that an update puts a row below another.
    private var moves: String { table.parentColumn.map(differs) ?? "false" }

    private func differs(_ column: TableColumn) -> String {
        "OLD.\(column.name.quoted) IS NOT NEW.\(column.name.quoted) COLLATE BINARY"
    }

    /// Returns an SQL expression that raises a message, as a literal: SQLite accepted no other
    /// before version 3.47.
    private func raise(_ message: String) -> String {
        "RAISE(ABORT, \("CloudKitStore: \(message)".literal))"
    }

    private func refuse(_ verb: String, _ row: String = "OLD") -> String {
        let message =
            "the row of the table '\(table.name)' cannot be \(verb): its owner shares it read-only; "
            + "ask the owner for permission to change it, or change a copy with another key"
        let place = place("writes", (table, RowKey.sql(table, of: row)))
        return "SELECT \(raise(message)) WHERE \(place) = 0;"
    }

    /// Returns the check that leaves the top of what another user shares to its owner.
    private func keepTop(_ verb: String, if condition: String = "true") -> String {
        let message =
            "the row of the table '\(table.name)' cannot be \(verb): it is the top of what its owner "
            + "shares; leave(_:in:) removes it from here, and the rows below it can be deleted"
        let share = place("share", (table, RowKey.sql(table, of: "OLD")))
        let zone = place("zone", (table, RowKey.sql(table, of: "OLD")))
        return "SELECT \(raise(message)) WHERE \(zone) <> '' AND \(share) IS NOT NULL "
            + "AND (\(condition));"
    }

    /// Returns the check that leaves the rows below such a top where they are: SQLite has done to them
    /// what the schema says of a deletion.
    private var keepBelowTop: String {
        let message =
            "the row of the table '\(table.name)' cannot be replaced: it is the top of what its owner "
            + "shares, and the rows below it would be lost; update it, or use INSERT … ON CONFLICT DO "
            + "UPDATE"
        return """
            SELECT \(raise(message)) FROM grdb_cloudkit_place top
                    WHERE top.tbl = \(table.name.literal) AND top.key = \(RowKey.sql(table, of: "NEW"))
                        AND top.zone <> '' AND top.share IS NOT NULL
                        AND EXISTS (SELECT 1 FROM grdb_cloudkit_place below
                            WHERE below.zone = top.zone AND below.parent = top.name);
            """
    }

    private func parentWrites(if condition: String = "true") -> String? {
        guard let above = above("NEW") else { return nil }
        let message =
            "a row of the table '\(table.name)' cannot be below a row of the table '"
            + "\(above.table.name)' that its owner shares read-only; ask the owner for permission to "
            + "change it, or put the row elsewhere"
        return "SELECT \(raise(message)) WHERE \(place("writes", above)) = 0 "
            + "AND (\(condition));"
    }

    /// The checks that refuse to replace a row of another zone by its key: two zones cannot have
    /// the row at the same time.
    private var takesKey: String {
        let old = place("zone", (table, RowKey.sql(table, of: "NEW")))
        return "SELECT \(raise(keyIsTaken)) WHERE \(old) <> coalesce(\(newZone), '');"
    }

    /// The checks that refuse the key of another zone's row whose deletion waits to be sent.
    private var takesDeletedKey: String { refuseKey(if: isDeleted, in: newZone) }

    /// Returns the check that refuses the key of another zone's row, which is there or whose deletion
    /// waits to be sent, to a row that changes its key.
    private func takesOthersKey(if condition: String) -> String {
        refuseKey(
            if: "(\(condition)) AND (\(isDeleted) OR \(isThere(" COLLATE BINARY")))",
            in: zone(ifMoved: moves)
        )
    }

    /// Returns the check that refuses, on a condition, a new row's key whose last row was of another
    /// zone than the row is of.
    private func refuseKey(if condition: String, in zone: String) -> String {
        let old = place("zone", (table, RowKey.sql(table, of: "NEW")))
        return "SELECT \(raise(keyIsTaken)) WHERE \(condition) "
            + "AND coalesce(\(old), '') <> coalesce(\(zone), '');"
    }

    /// Returns the condition that a row with the new row's key is there.
    private func isThere(_ collation: String = "") -> String {
        "EXISTS (SELECT 1 FROM \(table.name.quoted) WHERE "
            + table.keyColumns.map {
                "\($0.name.quoted) IS NEW.\($0.name.quoted)\(collation)"
            }.joined(separator: " AND ") + ")"
    }

    /// The condition that the deletion of a row with the new row's key waits to be sent.
    private var isDeleted: String {
        "EXISTS (SELECT 1 FROM grdb_cloudkit_outbox WHERE tbl = \(table.name.literal) "
            + "AND key = \(RowKey.sql(table, of: "NEW")) AND deleted <> 0)"
    }

    /// Returns the check that refuses the key of another user's row that waits: its record would be
    /// taken for the row's, and overwritten.
    private func takesWaitingKey(if condition: String) -> String {
        let message =
            "a row of the table '\(table.name)' cannot have the key of one that another user shares and "
            + "that waits; verify() says for what, choose another key"
        let key = RowKey.sql(table, of: "NEW")
        return "SELECT \(raise(message)) WHERE (\(condition)) "
            + "AND \(place("zone", (table, key))) <> '' AND NOT \(isDeleted);"
    }

    /// Returns the statement that gives one of the user's own rows a place before it is replaced, or
    /// inserted after its deletion: once it is, nothing else says that it was theirs.
    private func staysOwn(if isThere: String) -> String {
        let key = RowKey.sql(table, of: "NEW")
        return """
            INSERT INTO grdb_cloudkit_place (tbl, key, zone)
                    SELECT \(table.name.literal), \(key), ''
                    WHERE (\(isThere) OR \(isDeleted)) AND \(place("zone", (table, key))) IS NULL
                        AND \(newZone) <> '';
            """
    }

    /// Returns the statements that give another user's row its zone under another key too, before SQLite
    /// has the rows below it refer to that key: their triggers look there.
    private func keepZone(if condition: String) -> String? {
        guard table.format == nil else { return nil }
        func place(of row: Target, if moved: String) -> String {
            """
            INSERT INTO grdb_cloudkit_place (tbl, key, zone, writes)
                    SELECT \(table.name.literal), \(RowKey.sql(table, of: "NEW")), zone, writes
                    FROM grdb_cloudkit_place WHERE tbl = \(row.table.name.literal) AND key = \(row.key)
                        AND zone <> '' AND (\(condition)) AND \(moved)
                    ON CONFLICT (tbl, key) DO NOTHING;
            """
        }
        let stays = place(of: (table, RowKey.sql(table, of: "OLD")), if: "NOT (\(moves))")
        guard let above = above("NEW") else { return stays }
        return stays + "\n    " + place(of: above, if: "(\(moves))")
    }

    /// Returns the statement that removes, on a condition, the place that an `UPDATE OR IGNORE` left
    /// behind under a key which it then did not write.
    private func dropStray(if condition: String = "true") -> String {
        let key = RowKey.sql(table, of: "NEW")
        return """
            DELETE FROM grdb_cloudkit_place WHERE tbl = \(table.name.literal) AND key = \(key)
                        AND (\(condition)) AND zone <> '' AND name IS NULL AND share IS NULL
                        AND NOT \(isThere())
                        AND NOT EXISTS (SELECT 1 FROM grdb_cloudkit_outbox
                            WHERE tbl = \(table.name.literal) AND key = \(key));
            """
    }

    private var leavesTree: String {
        "a row of the table '\(table.name)' that was not sent cannot leave what another user shares "
            + "while it, or a row below it, refers to rows there, or they to it; sync first, or clear "
            + "these references"
    }

    private var keyIsTaken: String {
        "a row of the table '\(table.name)' cannot have the key of one that another user owns, or "
            + "the other way round; sync after that is deleted, or choose another key"
    }

    /// The SQL of the zone of a new or replacing row: the zone of the row above it, or its own if
    /// it is the root of a share, or the user's own row.
    private var newZone: String {
        let own = select("zone", (table, RowKey.sql(table, of: "NEW")))
        if table.format != nil { return "(\(own))" }
        return "coalesce(\(place("zone", above("NEW"))), "
            + "(\(own) AND (share IS NOT NULL OR zone = '')), "
            + "\(JoinedZone.sql(table)))"
    }

    /// Returns the SQL of the zone of an updated row: its own, or the user's if the update takes it
    /// out of another user's tree.
    private func zone(ifMoved condition: String) -> String {
        let zone = place("zone", (table, RowKey.sql(table, of: "OLD")))
        guard let above = above("NEW") else { return zone }
        let leaving = LeavingTree(table, catalog, above: select("1", above), row: "OLD")
        return "CASE WHEN (\(condition)) AND \(leaving.becomesOwn) THEN '' ELSE \(zone) END"
    }

    /// Returns the check that refuses a reference to a row of another zone.
    private func leaves(
        _ column: TableColumn,
        _ zone: String,
        if condition: String = "true"
    ) -> String? {
        guard let target = target(column, "NEW") else { return nil }
        let message =
            "the column '\(column.name)' of a row of the table '\(table.name)' cannot refer to a row "
            + "of the table '\(target.table.name)' that another user owns, or the other way round; "
            + "create a new row below the one that is shared"
        return "SELECT \(raise(message)) WHERE NEW.\(column.name.quoted) IS NOT NULL "
            + "AND coalesce(\(place("zone", target)), '') <> coalesce(\(zone), '') "
            + "AND (\(condition));"
    }

    /// The statement that gives a row its parent's place, unless it has one; the app's statement
    /// would override `OR IGNORE`.
    private var inherit: String? {
        guard let above = above("NEW") else { return nil }
        return """
            INSERT INTO grdb_cloudkit_place (tbl, key, zone, writes)
                    SELECT \(table.name.literal), \(RowKey.sql(table, of: "NEW")), zone, writes
                    FROM grdb_cloudkit_place WHERE tbl = \(above.table.name.literal)
                        AND key = \(above.key)
                    ON CONFLICT (tbl, key) DO NOTHING;
            """
    }
}
