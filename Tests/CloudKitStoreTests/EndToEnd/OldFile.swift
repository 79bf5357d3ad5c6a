import GRDB

/// Makes files as older versions of the store have them.
enum OldFile {
    /// Turns a file of this version into one of version 1, 2 or 3.
    static func turn(_ database: Database, into version: Int) throws {
        let prefix = "grdb_cloudkit_"
        let objects = try Row.fetchAll(
            database,
            sql: "SELECT type, name, sql FROM sqlite_master WHERE instr(sql, ?)",
            arguments: [prefix]
        ).map { (type: $0["type"] as String, name: $0["name"] as String, sql: $0["sql"] as String) }
        for object in objects where object.type != "table" {
            try database.execute(sql: "DROP \(object.type) \(object.name)")
        }
        for object in objects where object.type == "table" {
            let old = object.name.replacing(prefix, with: "cloudkit_")
            try database.execute(sql: "ALTER TABLE \(object.name) RENAME TO \(old)")
        }
        for object in objects where object.type != "table" {
            try database.execute(sql: object.sql.replacing(prefix, with: "cloudkit_"))
        }
        try database.execute(
            sql: """
                DROP TABLE cloudkit_gone;
                ALTER TABLE cloudkit_record ADD COLUMN sent BLOB;
                ALTER TABLE cloudkit_record ADD COLUMN sentVersion INTEGER;
                ALTER TABLE cloudkit_record ADD COLUMN sentEntry INTEGER;
                UPDATE cloudkit_control SET version = \(version);
                """
        )
        if version < 3 { try database.execute(sql: withoutSent) }
        if version < 2 { try database.execute(sql: withoutSharing) }
    }

    /// Before 3, saves that were not answered had no table of their own.
    private static let withoutSent = """
        CREATE INDEX cloudkit_record_sent ON cloudkit_record (sentVersion)
            WHERE sentVersion IS NOT NULL;
        UPDATE cloudkit_record SET (sent, sentVersion, sentEntry) =
            (SELECT fields, version, entry FROM cloudkit_sent s WHERE s.name = cloudkit_record.name);
        DROP TABLE cloudkit_sent;
        """

    /// Before 2, nothing was shared.
    private static let withoutSharing = """
        DROP TABLE cloudkit_place; DROP TABLE cloudkit_share; DROP TABLE cloudkit_zone;
        DROP TABLE cloudkit_public;
        DROP INDEX cloudkit_record_lacks;
        ALTER TABLE cloudkit_record DROP COLUMN lacks;
        ALTER TABLE cloudkit_record DROP COLUMN zone;
        ALTER TABLE cloudkit_control DROP COLUMN sharedEngine;
        """
}
