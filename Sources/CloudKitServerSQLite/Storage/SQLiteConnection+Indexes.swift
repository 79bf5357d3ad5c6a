import CloudKitServerCore
import GRDB

extension SQLiteConnection {
    func entries(_ scan: IndexScan) throws -> [IndexEntry] {
        let (condition, arguments) = Self.condition(scan)
        let direction = scan.isDescending ? "DESC" : "ASC"
        return try all(
            """
            SELECT key, record FROM indexEntry WHERE \(condition)
            ORDER BY key \(direction), record \(direction) LIMIT ?
            """,
            arguments + [scan.limit]
        ) { row in
            IndexEntry(index: scan.index, key: row[0], record: RowID(rawValue: row[1]))
        }
    }

    func entryCount(_ scan: IndexScan) throws -> Int {
        let (condition, arguments) = Self.condition(scan)
        return try first(
            "SELECT count(*) FROM (SELECT 1 FROM indexEntry WHERE \(condition) LIMIT ?)",
            arguments + [scan.limit]
        ) { $0[0] } ?? 0
    }

    func addEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try run(
            "INSERT OR IGNORE INTO indexEntry (zone, number, key, record) VALUES (?, ?, ?, ?)",
            [zone.rawValue, entry.index, entry.key, entry.record.rawValue]
        )
    }

    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try run(
            "DELETE FROM indexEntry WHERE zone = ? AND number = ? AND key = ? AND record = ?",
            [zone.rawValue, entry.index, entry.key, entry.record.rawValue]
        )
    }

    func removeEntries(index: Int64) throws {
        try run("DELETE FROM indexEntry WHERE number = ?", [index])
    }

    private static func condition(_ scan: IndexScan) -> (String, [Argument]) {
        var condition = "zone = ? AND number = ?"
        var arguments: [Argument] = [scan.zone.rawValue, scan.index]
        if !scan.lowerBound.isEmpty {
            condition += " AND key >= ?"
            arguments.append(scan.lowerBound)
        }
        if let upperBound = scan.upperBound {
            condition += " AND key < ?"
            arguments.append(upperBound)
        }
        if let after = scan.after {
            condition += " AND (key, record) \(scan.isDescending ? "<" : ">") (?, ?)"
            arguments += [after.key, after.record.rawValue]
        }
        return (condition, arguments)
    }
}
