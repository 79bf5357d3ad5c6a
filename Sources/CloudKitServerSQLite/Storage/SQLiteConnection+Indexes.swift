import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection {
    func entries(_ scan: IndexScan) throws -> [IndexEntry] {
        let (condition, arguments) = try condition(scan)
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

    func forEachRecord(
        in scan: IndexScan,
        _ body: (_ entry: IndexEntry, _ record: StoredRecord?) throws -> Bool
    ) throws {
        let content = try content(scan.zone)
        let (condition, arguments) = try condition(scan, of: "entry.")
        let direction = scan.isDescending ? "DESC" : "ASC"
        let (key, number) = (Self.recordColumns.count, Self.recordColumns.count + 1)
        // A left join keeps the order of the tables: from each entry to its record.
        try visit(
            """
            SELECT \(Self.columnsOfFound), entry.key, entry.record
            FROM indexEntry AS entry LEFT JOIN record AS found ON found.id = entry.record
            WHERE \(condition)
            ORDER BY entry.key \(direction), entry.record \(direction) LIMIT ?
            """,
            arguments + [scan.limit]
        ) { row in
            let entry = IndexEntry(
                index: scan.index,
                key: row[key],
                record: RowID(rawValue: row[number])
            )
            let isThere = row[1] as Int64? == content
            return try body(entry, isThere ? Self.record(row, scan.zone) : nil)
        }
    }

    private static let columnsOfFound = recordColumns.map { "found.\($0)" }
        .joined(separator: ", ")

    func entryCount(_ scan: IndexScan) throws -> Int {
        let (condition, arguments) = try condition(scan)
        // No more entries are counted than the plan of a query has to know.
        return try first(
            "SELECT count(*) FROM (SELECT 1 FROM indexEntry WHERE \(condition) LIMIT ?)",
            arguments + [scan.limit]
        ) { $0[0] } ?? 0
    }

    func addEntries(_ entries: [IndexEntry], in zone: RowID<StoredZone>) throws {
        let content = try contentToFill(zone)
        var rest = entries[...]
        while let record = rest.first?.record {
            let part = rest.prefix(Self.inserts.count).prefix { $0.record == record }
            var values: [Argument] = [content, record.rawValue]
            values.reserveCapacity(2 + 2 * part.count)
            for entry in part {
                values.append(entry.index)
                values.append(entry.key)
            }
            try run(Self.inserts[part.count - 1], values, to: .contents)
            rest = rest.dropFirst(part.count)
        }
    }

    /// Statements that insert several entries of one record, by the number of entries.
    private static let inserts = (1...24).map { count in
        // The zone and the record are the same in all rows.
        let rows = (1...count).map { "(?1, ?\(2 * $0 + 1), ?\(2 * $0 + 2), ?2)" }
        let values = rows.joined(separator: ", ")
        // An update of the indexes may add what a save has added since.
        return "INSERT OR IGNORE INTO indexEntry (zone, number, key, record) VALUES \(values)"
    }

    func removeEntry(_ entry: IndexEntry, in zone: RowID<StoredZone>) throws {
        try run(
            "DELETE FROM indexEntry WHERE zone = ? AND number = ? AND key = ? AND record = ?",
            [try content(zone), entry.index, entry.key, entry.record.rawValue],
            to: .contents
        )
    }

    func removeEntries(of record: RowID<StoredRecord>, in zone: RowID<StoredZone>) throws {
        try run(
            "DELETE FROM indexEntry WHERE zone = ? AND record = ?",
            [try content(zone), record.rawValue],
            to: .contents
        )
    }

    func removeEntries(index: Int64, _ environment: RowID<StoredEnvironment>) throws {
        try run(
            "DELETE FROM indexEntry WHERE number = ? AND zone IN (\(Self.contentsOfEnvironment))",
            [index, environment.rawValue]
        )
    }

    func addMissingEntries(
        index: Int64,
        key: Data,
        for known: Int64,
        _ environment: RowID<StoredEnvironment>
    ) throws {
        try run(
            """
            INSERT INTO indexEntry (zone, number, key, record)
            SELECT zone, ?, ?, record FROM indexEntry
            WHERE number = ? AND zone IN (\(Self.contentsOfEnvironment)) AND record NOT IN (
                SELECT record FROM indexEntry
                WHERE number = ? AND zone IN (\(Self.contentsOfEnvironment))
            )
            """,
            [index, key, known, environment.rawValue, index, environment.rawValue]
        )
    }

    private static let contentsOfEnvironment = """
        SELECT zone.content FROM zone JOIN database ON database.id = zone.database
        WHERE database.environment = ?
        """

    private func condition(
        _ scan: IndexScan,
        of table: String = ""
    ) throws -> (String, [Argument]) {
        var condition = "\(table)zone = ? AND \(table)number = ?"
        var arguments: [Argument] = [try content(scan.zone), scan.index]
        if !scan.lowerBound.isEmpty {
            condition += " AND \(table)key >= ?"
            arguments.append(scan.lowerBound)
        }
        if let upperBound = scan.upperBound {
            condition += " AND \(table)key < ?"
            arguments.append(upperBound)
        }
        if let after = scan.after {
            // As a pair, so that none of the records with the same key is passed over.
            let place = "(\(table)key, \(table)record)"
            condition += " AND \(place) \(scan.isDescending ? "<" : ">") (?, ?)"
            arguments += [after.key, after.record.rawValue]
        }
        return (condition, arguments)
    }
}
