import Foundation
import GRDB

/// The last version of a deleted record, kept in case another device's edit survives the deletion:
/// that device may not have seen all of it.
enum DeletedRecord {
    /// The maximum number of records that are kept.
    private static let limit = 10_000

    /// Keeps a deleted record's fields, unless they have no stamp to compare others with.
    static func save(
        _ database: Database,
        _ name: String,
        _ zone: StoreZone,
        _ fields: [String: StoreValue]
    ) throws {
        guard fields[RecordStamp.field] != nil else { return }
        try database.run(
            "INSERT OR REPLACE INTO grdb_cloudkit_deleted (name, zone, fields) VALUES (?, ?, ?)",
            [name, zone, FieldCoding.data(fields)]
        )
    }

    /// Removes and returns the last fields of some records, by name, with their zones.
    static func take(
        _ database: Database,
        _ names: [String]
    ) throws -> [String: (zone: StoreZone, fields: [String: StoreValue])] {
        let any = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_deleted)"
        )
        guard try Bool.fetchOne(any) ?? true else { return [:] }
        var found: [String: (zone: StoreZone, fields: [String: StoreValue])] = [:]
        let statement = try database.cachedStatement(
            sql:
                "SELECT name, zone, fields FROM grdb_cloudkit_deleted WHERE name IN (\(Portion.marks))"
        )
        for portion in Portion.of(names) {
            for row in try Row.fetchAll(statement, arguments: portion) {
                found[row[0]] = (row[1], try FieldCoding.fields(row[2]))
            }
        }
        for name in found.keys {
            try database.run("DELETE FROM grdb_cloudkit_deleted WHERE name = ?", [name])
        }
        return found
    }

    /// Removes the oldest records beyond the maximum number.
    static func trim(_ database: Database) throws {
        try database.run(
            """
            DELETE FROM grdb_cloudkit_deleted
            WHERE id <= (SELECT max(id) FROM grdb_cloudkit_deleted) - ?
            """,
            [limit]
        )
    }
}
