import GRDB

/// A reader that counts the records in a store's mirroring tables.
struct MirrorReader {
    private let database: Database
    private let layout: StoreLayout
    private let zones: [Int64: CoreDataMirror.Zone]

    init(
        _ database: Database,
        _ layout: StoreLayout,
        _ zones: [Int64: CoreDataMirror.Zone]
    ) {
        self.database = database
        self.layout = layout
        self.zones = zones
    }

    func mirror() throws -> CoreDataMirror {
        var mirror = CoreDataMirror()
        mirror.zones = zones.sorted { $0.key < $1.key }.map(\.value)
        for table in layout.tables { try count(table, &mirror) }
        try countRecordsWithoutRows(&mirror)
        for join in layout.joins {
            let missing = try count(
                "SELECT count(*) FROM (\(Self.links(join))) WHERE name ISNULL AND isWhole"
            )
            if missing > 0 {
                mirror.missingRecords["\(join.owner).\(join.relationship.name)"] = missing
            }
            let unlinked = try count(Self.withoutLink(join, layout))
            if unlinked > 0 {
                mirror.recordsWithoutRow += unlinked
                mirror.entitiesOfRecordsWithoutRow["\(join.owner).\(join.relationship.name)"] =
                    unlinked
            }
        }
        return mirror
    }

    private func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }

    private func count(
        _ table: StoreLayout.Table,
        _ mirror: inout CoreDataMirror
    ) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT t.Z_ENT, m.state, count(*)
                FROM main.\(table.name.quotedName) t NOT INDEXED
                LEFT JOIN temp.\(MirrorTables.records) m ON m.ent = t.Z_ENT AND m.pk = t.Z_PK
                GROUP BY 1, 2
                """
        )
        for row in rows {
            guard let number = Int64.fromDatabaseValue(row[0]),
                let count = Int.fromDatabaseValue(row[2]), let entity = table.entities[number]
            else { continue }
            guard let state = String.fromDatabaseValue(row[1]) else {
                mirror.missingRecords[entity.name, default: 0] += count
                continue
            }
            mirror.rowsWithRecord += count
            switch MirrorTables.State(rawValue: state) {
            case .changed, .deleted: mirror.rowsToSend += count
            case .gone: mirror.rowsToDelete += count
            default: break
            }
        }
    }

    private func countRecordsWithoutRows(_ mirror: inout CoreDataMirror) throws {
        for table in layout.tables {
            let condition = Self.withoutRow(table)
            mirror.recordsToDelete += try count(
                "SELECT count(*) FROM temp.\(MirrorTables.records) m WHERE \(condition) "
                    + "AND state = 'deleted'"
            )
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT m.ent, count(*) FROM temp.\(MirrorTables.records) m
                    WHERE \(condition) AND \(Self.isUnexplained) GROUP BY 1
                    """
            )
            for row in rows {
                guard let number = Int64.fromDatabaseValue(row[0]),
                    let count = Int.fromDatabaseValue(row[1]), let entity = table.entities[number]
                else { continue }
                mirror.recordsWithoutRow += count
                mirror.entitiesOfRecordsWithoutRow[entity.name] = count
            }
        }
    }

    /// The SQL condition for records of which nothing says why they have no row.
    static let isUnexplained = "m.state NOT IN ('deleted', 'gone')"

    /// Returns the SQL condition for records of a table that have no row.
    static func withoutRow(_ table: StoreLayout.Table) -> String {
        let numbers = table.entities.keys.sorted().map(String.init).joined(separator: ", ")
        return """
            m.ent IN (\(numbers)) AND NOT EXISTS (
                SELECT 1 FROM main.\(table.name.quotedName) t
                WHERE t.Z_PK = m.pk AND t.Z_ENT = m.ent)
            """
    }

    /// The SQL condition for records of links of which nothing says why the link does not exist.
    static let isUnexplainedLink = "l.state <> 'deleted' AND NOT l.isPending"

    /// Returns the SQL conditions for records of links that the relationship's end has written, and its inverse.
    static func writers(
        _ join: StoreLayout.Join,
        _ layout: StoreLayout
    ) -> (own: String, inverse: String) {
        func isOf(_ relationship: String, _ root: String) -> String {
            let entities = layout.table(ofRoot: root)?.entities.values.map(\.name.literal) ?? []
            return "(l.relation = \(relationship.literal) AND l.entity IN "
                + "(\(entities.sorted().joined(separator: ", "))))"
        }
        return (
            isOf(join.relationship.name, join.ownerRoot), isOf(join.inverse.name, join.targetRoot)
        )
    }

    /// Returns the SQL of the number of a relationship's records whose link does not exist, without a reason.
    private static func withoutLink(_ join: StoreLayout.Join, _ layout: StoreLayout) -> String {
        let (own, inverse) = writers(join, layout)
        return """
            WITH pair AS (
                SELECT source, target FROM (\(links(join))) WHERE source NOTNULL AND target NOTNULL)
            SELECT count(DISTINCT l.name) FROM temp.\(MirrorTables.links) l
            WHERE (\(own) OR \(inverse)) AND \(isUnexplainedLink) AND NOT (
                \(own) AND (l.source, l.target) IN (SELECT source, target FROM pair)
                OR \(inverse) AND (l.target, l.source) IN (SELECT source, target FROM pair))
            """
    }

    /// Returns the SQL of a relationship's links with their records and those of their ends, and whether the rows at
    /// both ends exist.
    private static func links(_ join: StoreLayout.Join) -> String {
        """
        SELECT s.Z_PK NOTNULL AND t.Z_PK NOTNULL AS isWhole, a.name AS source, b.name AS target, coalesce(
            (SELECT min(name) FROM temp.\(MirrorTables.links) l
                WHERE l.relation = \(join.relationship.name.literal)
                AND l.source = a.name AND l.target = b.name AND l.state <> 'deleted'),
            (SELECT min(name) FROM temp.\(MirrorTables.links) l
                WHERE l.relation = \(join.inverse.name.literal)
                AND l.source = b.name AND l.target = a.name AND l.state <> 'deleted')) AS name
        FROM main.\(join.table.quotedName) j NOT INDEXED
        LEFT JOIN main.\(("Z" + join.ownerRoot.uppercased()).quotedName) s
            ON s.Z_PK = j.\(join.ownerColumn.quotedName)
        LEFT JOIN main.\(("Z" + join.targetRoot.uppercased()).quotedName) t
            ON t.Z_PK = j.\(join.targetColumn.quotedName)
        LEFT JOIN temp.\(MirrorTables.records) a ON a.ent = s.Z_ENT AND a.pk = s.Z_PK
        LEFT JOIN temp.\(MirrorTables.records) b ON b.ent = t.Z_ENT AND b.pk = t.Z_PK
        """
    }
}

extension String {
    /// The text as an SQL literal.
    var literal: String { "'\(replacing("'", with: "''"))'" }
}
