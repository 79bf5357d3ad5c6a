import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection: DerivedRows {
    func forEachEntry(
        in zone: RowID<StoredZone>,
        _ body: (IndexEntry) throws -> Void
    ) throws {
        let sql = "SELECT number, key, record FROM indexEntry WHERE zone = ?"
        try forEach(sql, [try content(zone)]) { row in
            try body(
                IndexEntry(index: row[0], key: row[1], record: RowID(rawValue: row[2]))
            )
        }
    }

    func forEachReference(
        in zone: RowID<StoredZone>,
        _ body: (StoredReference) throws -> Void
    ) throws {
        let sql = "SELECT source, target, kind, circle FROM reference WHERE zone = ?"
        try forEach(sql, [try content(zone)]) { row in
            guard let kind = StoredReference.Kind(rawValue: row[2]) else { return }
            try body(
                StoredReference(
                    source: RowID(rawValue: row[0]),
                    target: row[1],
                    kind: kind,
                    circle: row[3]
                )
            )
        }
    }

    func forEachAsset(
        in zone: RowID<StoredZone>,
        _ body: (_ checksum: Data, _ record: RowID<StoredRecord>) throws -> Void
    ) throws {
        let sql = """
            SELECT asset.checksum, asset.record FROM asset JOIN record ON record.id = asset.record
            WHERE record.zone = ?
            """
        try forEach(sql, [try content(zone)]) { row in try body(row[0], RowID(rawValue: row[1])) }
    }

    func ownersOfLostAssets() throws -> [RowID<StoredRecord>] {
        try all(
            """
            SELECT DISTINCT record FROM asset
            WHERE record NOT IN (SELECT id FROM record) ORDER BY record
            """
        ) { RowID(rawValue: $0[0]) }
    }

    func heldAssets() throws -> [Data] {
        let tables = ["asset"] + (try snapshotTables(of: "asset"))
        let parts = tables.map { "SELECT checksum FROM \($0)" }.joined(separator: " UNION ")
        return try all("SELECT checksum FROM (\(parts)) ORDER BY checksum") { $0[0] }
    }

    func removeLostAssets() throws {
        try run("DELETE FROM asset WHERE record NOT IN (SELECT id FROM record)", to: .contents)
    }

    func holders(of checksum: Data) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + """
                 WHERE id IN (SELECT record FROM asset WHERE checksum = ?) ORDER BY id
                """,
            [checksum]
        ) { row in
            try zone(withContent: row[1]).map { Self.record(row, $0) }
        }.compactMap(\.self)
    }

    func fileProblems() throws -> [FileProblem] {
        let found: [[DatabaseValue]]
        do {
            found = try rows("PRAGMA integrity_check(20)")
        } catch  where StorageError.isDamage(error) {
            // The check itself may not get through.
            return [FileProblem("\(error)", isDerived: false)]
        }
        let lines = found.flatMap { row in
            (String.fromDatabaseValue(row[0]) ?? "").split(separator: "\n").map(String.init)
        }.filter { $0 != "ok" && !$0.hasPrefix("***") }
        guard !lines.isEmpty else { return [] }
        let names = Self.derivedTables.map { "'\($0)'" }.joined(separator: ", ")
        let roots = try rows(
            "SELECT rootpage FROM sqlite_master WHERE type = 'index' OR name IN (\(names))"
        ).compactMap { Int64.fromDatabaseValue($0[0]) }
        return lines.map { line in
            // SQLite names a tree by its root: Tree 12 page 34 cell 5: …
            let words = line.split(separator: " ")
            let tree = words.first == "Tree" && words.count > 1 ? Int64(words[1]) : nil
            // A table without row IDs is named at the end: row not in PRIMARY KEY order for …
            let isOfTable = Self.derivedTables.contains { line.hasSuffix(" for \($0)") }
            let isOfIndex = line.contains(" index ") || tree.map(roots.contains) ?? false
            return FileProblem(line, isDerived: isOfIndex || isOfTable)
        }
    }

    /// The tables whose rows derive from the records, which have no row IDs.
    static let derivedTables = ["indexEntry", "reference", "asset"]

    /// Returns the records whose rows do not match their checksums.
    func damagedRecords() throws -> DamagedRecords {
        var found = DamagedRecords()
        try forEach(Self.selectRecord) { row in
            let record = Self.record(row, RowID(rawValue: 0))
            if record.isDamaged { found.add(record.name) }
        }
        return found
    }
}
