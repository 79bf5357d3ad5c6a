import Foundation
import GRDB

/// The last version of a deleted record, kept in case another device's edit survives the deletion:
/// that device may not have seen all of it.
struct DeletedRecord {
    var zone: StoreZone
    var fields: [String: StoreValue]
    /// `true` when the record was the top of a share, which was deleted with it.
    var wasShared = false

    /// The maximum number of records that are kept.
    private static let limit = 10_000
    /// The field that marks the top of a share; no field of a record can have a dot in its name.
    private static let share = "cloudkit.share"

    /// Keeps the record, unless its fields have no stamp to compare others with.
    func save(_ database: Database, _ name: String) throws {
        guard fields[RecordStamp.field] != nil else { return }
        let kept = wasShared ? fields.merging([Self.share: .integer(1)]) { $1 } : fields
        try database.run(
            "INSERT OR REPLACE INTO grdb_cloudkit_deleted (name, zone, fields) VALUES (?, ?, ?)",
            [name, zone, FieldCoding.data(kept)]
        )
    }

    /// Removes and returns some records, by name.
    static func take(_ database: Database, _ names: [String]) throws -> [String: DeletedRecord] {
        // A fetch inserts many rows, and few records are kept: one look saves a search for each.
        let any = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM grdb_cloudkit_deleted)"
        )
        guard try Bool.fetchOne(any) ?? true else { return [:] }
        var found: [String: DeletedRecord] = [:]
        let statement = try database.cachedStatement(
            sql:
                "SELECT name, zone, fields FROM grdb_cloudkit_deleted WHERE name IN (\(Portion.marks))"
        )
        for portion in Portion.of(names) {
            for row in try Row.fetchAll(statement, arguments: portion) {
                var fields = try FieldCoding.fields(row[2])
                let wasShared = fields.removeValue(forKey: share) != nil
                found[row[0]] = DeletedRecord(zone: row[1], fields: fields, wasShared: wasShared)
            }
        }
        for portion in Portion.of(Array(found.keys)) {
            try database.run(
                "DELETE FROM grdb_cloudkit_deleted WHERE name IN (\(Portion.marks))",
                portion
            )
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
