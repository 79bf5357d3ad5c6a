import CloudKitServerCore
import GRDB

// The rows in a zone have a number of their own, the zone's content. An emptied zone gets another
// content, so a single statement discards all of its rows, however many there are. They are removed
// later, in steps.
extension SQLiteConnection {
    /// A number that is no content.
    static let noContent: Int64 = -1

    /// Returns the content of a zone; `noContent` if there is no such zone.
    func content(_ zone: RowID<StoredZone>) throws -> Int64 {
        try directory.contents.value(zone) {
            try first("SELECT content FROM zone WHERE id = ?", [zone.rawValue]) { $0[0] }
        } ?? Self.noContent
    }

    /// Returns the content of a zone, to add rows to it.
    ///
    /// - Throws: `StorageError` if there is no such zone.
    func contentToFill(_ zone: RowID<StoredZone>) throws -> Int64 {
        let content = try content(zone)
        guard content != Self.noContent else {
            throw StorageError(.other, "There is no zone \(zone.rawValue) to write to")
        }
        return content
    }

    /// Returns the zone with a content; nil if there no longer is one.
    func zone(withContent content: Int64) throws -> RowID<StoredZone>? {
        try directory.zonesByContent.value(content) {
            try first("SELECT id FROM zone WHERE content = ?", [content]) {
                RowID(rawValue: $0[0])
            }
        }
    }

    /// Adds an empty content; returns its number.
    func addContent() throws -> Int64 {
        try insert("INSERT INTO content DEFAULT VALUES", [])
    }

    func removeContents(of zone: RowID<StoredZone>) throws {
        try discard("SELECT content FROM zone WHERE id = \(zone.rawValue)")
        try run("UPDATE zone SET content = ? WHERE id = ?", [try addContent(), zone.rawValue])
    }

    func removeZones(of environment: RowID<StoredEnvironment>) throws {
        let databases = "SELECT id FROM database WHERE environment = \(environment.rawValue)"
        try discard("SELECT content FROM zone WHERE database IN (\(databases))")
        try runOnce("DELETE FROM zone WHERE database IN (\(databases))")
        try run(
            "UPDATE database SET headSequence = 0 WHERE environment = ?",
            [environment.rawValue]
        )
    }

    /// Marks contents that their zones are about to lose for removal, except those of snapshots.
    ///
    /// - Parameter contents: A query of their numbers.
    /// - Throws: An error of SQLite.
    func discard(_ contents: String) throws {
        var condition = "id IN (\(contents))"
        for table in try snapshotTables(of: "zone") {
            condition += " AND id NOT IN (SELECT content FROM \(table))"
        }
        try runOnce("UPDATE content SET isDiscarded = 1 WHERE \(condition)")
        directory.hasDiscarded = true
    }

    /// Returns whether there are contents to remove.
    func hasDiscarded() throws -> Bool {
        try oldestDiscarded() != nil
    }

    /// Removes some of the discarded rows, oldest content first.
    ///
    /// - Returns: Whether there may be more.
    func removeDiscarded() throws -> Bool {
        for _ in 0..<Self.contentsOfStep {
            guard let content = try oldestDiscarded() else { return false }
            for table in Self.discarded
            where try removeSome(of: content, from: table) > 0 { return true }
            try run("DELETE FROM content WHERE id = ?", [content], to: .contents)
        }
        return true
    }

    /// The number of empty contents that one step removes.
    private static let contentsOfStep = 50

    /// Returns the oldest discarded content, except one that a zone or a snapshot has: a mark that
    /// contradicts those is damage, and must not cost records.
    private func oldestDiscarded() throws -> Int64? {
        try first(
            "SELECT id FROM content WHERE isDiscarded AND NOT \(try isUsed()) ORDER BY id LIMIT 1"
        ) { $0[0] }
    }

    /// A table from which each step removes rows for some milliseconds, during which a write may
    /// have to wait.
    private struct Discarded {
        var table: String
        /// The column that orders the rows of a content by an index.
        var order: String
        var step: Int
    }

    private static let discarded = [
        Discarded(table: "indexEntry", order: "number, key, record", step: 1000),
        Discarded(table: "reference", order: "target, circle, kind, source", step: 1000),
        Discarded(table: "sighting", order: "viewer, sequence", step: 1000),
        // Last, because the rows of assets are found through them.
        Discarded(table: "record", order: "sequence", step: 100),
    ]

    private func removeSome(of content: Int64, from part: Discarded) throws -> Int {
        var (condition, arguments) = ("zone = ?", [content as Argument])
        // DELETE has no LIMIT in SQLite as it is usually built, so a step ends before a key.
        let end = try first(
            """
            SELECT \(part.order) FROM \(part.table) WHERE zone = ?
            ORDER BY \(part.order) LIMIT 1 OFFSET \(part.step)
            """,
            arguments
        ) { Array($0.databaseValues) }
        if let end {
            let marks = end.map { _ in "?" }.joined(separator: ", ")
            condition += " AND (\(part.order)) < (\(marks))"
            arguments += end
        }
        if part.table == "record" {
            try run(
                "DELETE FROM asset WHERE record IN (SELECT id FROM record WHERE \(condition))",
                arguments,
                to: .contents
            )
        }
        try run("DELETE FROM \(part.table) WHERE \(condition)", arguments, to: .contents)
        return changes
    }
}
