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

    func fileProblems() throws -> [String] {
        try all("PRAGMA integrity_check(20)") { row -> String in row[0] }.filter { $0 != "ok" }
    }
}
