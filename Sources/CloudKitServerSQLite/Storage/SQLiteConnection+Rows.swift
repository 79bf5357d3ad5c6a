import CloudKitServerCore
import CloudKitWire
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Rows outside of records that contradict each other.
extension SQLiteConnection {
    func rowProblems() throws -> [FileProblem] {
        var problems: [FileProblem] = []
        for rule in try RowRule.all + [contentRule()] + snapshotRules() {
            try forEach(rule.wrong) { row in
                let (id, expected, found): (String, String, String) = (row[0], row[1], row[2])
                problems.append(
                    FileProblem(
                        "table \(rule.table), row \(id): expected \(expected), found \(found); "
                            + "restore the data from a backup",
                        isDerived: false
                    )
                )
            }
        }
        let marked = "SELECT id FROM content WHERE isDiscarded AND \(try isUsed()) ORDER BY id"
        try forEach(marked) { row in
            let id: Int64 = row[0]
            problems.append(
                FileProblem(
                    "table content, row \(id): expected isDiscarded 0, because a zone or a snapshot "
                        + "has it, found 1",
                    isDerived: true
                )
            )
        }
        return problems
    }

    func mendRows() throws {
        try runOnce("UPDATE content SET isDiscarded = 0 WHERE isDiscarded AND \(try isUsed())")
    }

    func readableEnvironments() throws -> [StoredEnvironment] {
        try environments(where: "kind IN (\(RowRule.kinds))")
    }

    func forEachDocument(
        _ body: (_ collection: String, _ document: StoredDocument) throws -> Void
    ) throws {
        let columns = "CAST(collection AS TEXT), CAST(name AS TEXT), CAST(body AS BLOB)"
        try forEach("SELECT \(columns) FROM document ORDER BY collection, name") {
            try body($0[0], StoredDocument(name: $0[1], body: $0[2]))
        }
    }

    /// Returns the condition for a row of `content` that a zone or a snapshot has.
    func isUsed() throws -> String {
        let tables = ["zone"] + (try snapshotTables(of: "zone"))
        let conditions = tables.map {
            "EXISTS (SELECT 1 FROM \($0) AS kept WHERE kept.content = content.id)"
        }
        return "(\(conditions.joined(separator: " OR ")))"
    }

    /// Returns the rule that the zones of snapshots exist, under which a lost zone is noticed whose
    /// content a snapshot still has; empty without snapshots.
    ///
    /// The row of a zone goes only with a reset or a restore of an earlier snapshot. Both give the
    /// databases of the environment another incarnation, and take along all zones that are newer.
    private func snapshotRules() throws -> [RowRule] {
        let parts = try snapshotTables(of: "").map { snapshot in
            """
            SELECT CAST(kept.id AS TEXT), 'the zone ' || quote(kept.name) || ' of a snapshot', 'none'
            FROM \(snapshot)zone AS kept JOIN \(snapshot)database AS old ON old.id = kept.database
            JOIN database ON database.id = old.id
            LEFT JOIN (
                SELECT other.environment, max(there.id) AS newest
                FROM \(snapshot)zone AS there JOIN zone ON zone.id = there.id
                JOIN \(snapshot)database AS other ON other.id = there.database
                GROUP BY other.environment
            ) AS present ON present.environment = old.environment
            WHERE kept.id NOT IN (SELECT id FROM zone)
                AND (database.incarnation = old.incarnation OR kept.id < present.newest)
            """
        }
        guard !parts.isEmpty else { return [] }
        return [RowRule(table: "zone", wrong: parts.joined(separator: " UNION ") + " ORDER BY 1")]
    }

    private func contentRule() throws -> RowRule {
        RowRule(
            table: "content",
            wrong: """
                SELECT CAST(id AS TEXT), 'a zone or a snapshot that has it',
                    'none, and ' || (SELECT count(*) FROM record WHERE record.zone = content.id)
                    || ' of its records'
                FROM content WHERE NOT isDiscarded AND NOT \(try isUsed()) ORDER BY id
                """
        )
    }
}

/// A rule for the rows of a table.
private struct RowRule: Sendable {
    var table: String
    /// A query of the rows that break it: their key, what is expected, and what was found, as texts.
    var wrong: String

    /// The kinds of environments, for SQL.
    static let kinds = ServiceEnvironment.allCases.map { "'\($0.rawValue)'" }
        .joined(separator: ", ")

    static let all = [
        RowRule(
            table: "environment",
            wrong: """
                SELECT CAST(id AS TEXT), 'kind development or production', 'kind ' || quote(kind)
                FROM environment WHERE kind NOT IN (\(kinds)) ORDER BY id
                """
        ),
        RowRule(table: "database", "environment", in: "environment"),
        RowRule(table: "database", "owner", in: "user", where: "owner <> 0"),
        RowRule(
            table: "database",
            wrong: """
                SELECT CAST(database.id AS TEXT),
                    'headSequence ' || max(zone.changeSequence) || ' or more',
                    'headSequence ' || database.headSequence
                FROM database JOIN zone ON zone.database = database.id
                GROUP BY database.id HAVING max(zone.changeSequence) > database.headSequence
                """
        ),
        RowRule(table: "zone", "database", in: "database"),
        RowRule(table: "zone", "content", in: "content"),
        RowRule(table: "credential", key: "hex(hash)", "environment", in: "environment"),
        RowRule(
            table: "credential",
            key: "hex(hash)",
            "user",
            in: "user",
            where: "user IS NOT NULL"
        ),
        // Content 0 has the records that keep the numbers of snapshots.
        RowRule(
            table: "record",
            wrong: """
                SELECT min(id) || ' and ' || (count(*) - 1) || ' others',
                    'content ' || zone, 'none'
                FROM record WHERE zone <> 0
                GROUP BY zone HAVING zone NOT IN (SELECT id FROM content)
                """
        ),
    ]

    init(table: String, wrong: String) {
        self.table = table
        self.wrong = wrong
    }

    /// Creates the rule that a column has the number of a row in another table.
    init(
        table: String,
        key: String = "CAST(id AS TEXT)",
        _ column: String,
        in other: String,
        where condition: String = "1"
    ) {
        self.init(
            table: table,
            wrong: """
                SELECT \(key), '\(column) ' || \(column) || ' in table \(other)', 'none'
                FROM \(table)
                WHERE \(condition) AND \(column) NOT IN (SELECT id FROM \(other)) ORDER BY 1
                """
        )
    }
}
