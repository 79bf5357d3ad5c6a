#if PostgreSQL
import CloudKitServerCore
import CloudKitWire

// Rows outside of records that contradict each other.
extension PostgresTransaction {
    func rowProblems() throws -> [FileProblem] {
        var problems: [FileProblem] = []
        for rule in RowRule.all {
            problems += try all(rule.wrong, []) { row in
                FileProblem(
                    "table \(rule.table), row \(row.text(0)): expected \(row.text(1)), found "
                        + "\(row.text(2)); restore the data from a backup",
                    isDerived: false
                )
            }
        }
        for table in Self.derivedTables {
            problems += try all(
                """
                SELECT zone, count(*) FROM \(table) AS part WHERE \(Self.hasNoZone)
                GROUP BY database, zone ORDER BY database, zone
                """,
                []
            ) { row in
                FileProblem(
                    "table \(table), \(row.int(1)) rows: expected zone \(row.int(0)) in table zone, "
                        + "found none",
                    isDerived: true
                )
            }
        }
        for sequence in RowSequence.all {
            problems += try all(
                "SELECT next, newest FROM (\(sequence.state)) AS state WHERE next <= newest",
                []
            ) { row in
                FileProblem(
                    "sequence \(sequence.name): expected a number beyond \(row.int(1)), which a row "
                        + "has, found \(row.int(0))",
                    isDerived: true
                )
            }
        }
        return problems
    }

    func mendRows() throws {
        try requireEverything()
        for table in Self.derivedTables {
            state.changes.add("DELETE FROM \(table) AS part WHERE \(Self.hasNoZone)", [])
        }
        for sequence in RowSequence.all {
            state.changes.add(
                """
                SELECT setval('\(sequence.name)', newest + \(sequence.step), false)
                FROM (\(sequence.state)) AS state WHERE next <= newest
                """,
                []
            )
        }
    }

    /// The tables whose rows follow from the records of their zones.
    private static let derivedTables = ["index_entry", "reference", "sighting"]

    private static let hasNoZone = """
        NOT EXISTS (SELECT 1 FROM zone WHERE zone.database = part.database AND zone.id = part.zone)
        """
}

/// A sequence that gives rows their numbers.
private struct RowSequence {
    var name: String
    /// The number of numbers that it gives at once, which a node keeps for its next rows.
    var step: Int64
    /// A query of the next number that it gives, and of the highest that a row has.
    var state: String

    static let all = [
        RowSequence(
            name: "row_block",
            step: RowNumbers.block,
            for: ["environment", "account", "database", "zone", "record", "snapshot"]
        ),
        RowSequence(name: "push_number", step: 1, for: ["push"]),
    ]

    private init(name: String, step: Int64, for tables: [String]) {
        let newest = tables.map { "(SELECT max(id) FROM \($0))" }.joined(separator: ", ")
        self.name = name
        self.step = step
        state = """
            SELECT CASE WHEN is_called THEN last_value + \(step) ELSE last_value END AS next,
                coalesce(greatest(\(newest)), 0) AS newest FROM \(name)
            """
    }
}

/// A rule for the rows of a table.
private struct RowRule {
    var table: String
    /// A query of the rows that break it: their key, what is expected, and what was found, as texts.
    var wrong: String

    static let all = [
        RowRule(
            table: "environment",
            wrong: """
                SELECT id::text, 'kind development or production',
                    'kind ' || quote_literal(encode(kind, 'escape'))
                FROM environment WHERE kind NOT IN (\(kinds)) ORDER BY id
                """
        ),
        RowRule(table: "database", "environment", in: "environment"),
        RowRule(table: "database", "owner", in: "account", where: "part.owner <> 0"),
        RowRule(
            table: "database",
            wrong: """
                SELECT database.id::text, 'head_sequence ' || max(zone.change_sequence) || ' or more',
                    'head_sequence ' || database.head_sequence
                FROM database JOIN zone ON zone.database = database.id
                GROUP BY database.id HAVING max(zone.change_sequence) > database.head_sequence
                ORDER BY database.id
                """
        ),
        RowRule(table: "zone", "database", in: "database"),
        RowRule(
            table: "credential",
            key: "encode(part.hash, 'hex')",
            "environment",
            in: "environment"
        ),
        RowRule(
            table: "credential",
            key: "encode(part.hash, 'hex')",
            "account",
            in: "account",
            where: "part.account IS NOT NULL"
        ),
        RowRule(
            table: "record",
            wrong: """
                SELECT min(id) || ' and ' || (count(*) - 1) || ' others',
                    'zone ' || part.zone || ' in table zone', 'none'
                FROM record AS part WHERE NOT EXISTS (
                    SELECT 1 FROM zone WHERE zone.database = part.database AND zone.id = part.zone
                )
                GROUP BY part.database, part.zone ORDER BY part.database, part.zone
                """
        ),
        // The row of a zone goes only with a reset or a restore of an earlier snapshot. Both give the
        // databases of the environment another incarnation.
        RowRule(
            table: "zone",
            wrong: """
                SELECT DISTINCT kept.id::text, 'the zone '
                    || quote_literal(encode(kept.name, 'escape')) || ' of a snapshot', 'none'
                FROM kept_zone AS kept
                JOIN kept_database AS old ON old.snapshot = kept.snapshot AND old.id = kept.database
                JOIN database ON database.id = old.id AND database.incarnation = old.incarnation
                WHERE NOT EXISTS (
                    SELECT 1 FROM zone WHERE zone.database = kept.database AND zone.id = kept.id
                )
                ORDER BY 1
                """
        ),
    ]

    /// The kinds of environments, for SQL.
    private static let kinds = ServiceEnvironment.allCases.map { "'\($0.rawValue)'::bytea" }
        .joined(separator: ", ")

    init(table: String, wrong: String) {
        self.table = table
        self.wrong = wrong
    }

    /// Creates the rule that a column has the number of a row in another table.
    init(
        table: String,
        key: String = "part.id::text",
        _ column: String,
        in other: String,
        where condition: String = "true"
    ) {
        self.init(
            table: table,
            wrong: """
                SELECT \(key), '\(column) ' || part.\(column) || ' in table \(other)', 'none'
                FROM \(table) AS part WHERE \(condition)
                    AND NOT EXISTS (SELECT 1 FROM \(other) AS there WHERE there.id = part.\(column))
                ORDER BY 1
                """
        )
    }
}
#endif
