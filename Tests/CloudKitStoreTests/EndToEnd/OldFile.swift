import CloudKit
import CloudKitStore
import Foundation
import GRDB

/// The conversion of files to the form of older versions of the store.
enum OldFile {
    /// Converts a device's file, whose store was stopped and whose tables are notes and folders, to
    /// version 1, 2, 3 or 4.
    static func turn(_ device: Device, into version: Int) async throws {
        var records: [CKRecord] = []
        for table in ["folder", "note"] {
            let keys = try await device.database.read {
                try String.fetchAll($0, sql: "SELECT id FROM \(table) ORDER BY id")
            }
            for key in keys {
                do {
                    records.append(try await device.store.record(of: key, in: table))
                } catch let error as CloudStoreError where error.code == .neverSent {
                    continue
                }
            }
        }
        let known = records
        try await device.database.write { database in
            try spellOut(known, database)
            if version < 4 { try turn(database, into: version) }
        }
    }

    /// Restores the form before 5, in which a record was stored with all values of its row.
    private static func spellOut(_ records: [CKRecord], _ database: Database) throws {
        let sent = try Row.fetchAll(database, sql: "SELECT * FROM grdb_cloudkit_sent").map {
            (
                name: StoredName.text($0["name"]), fields: $0["fields"] as Data,
                version: $0["version"] as Int64, entry: $0["entry"] as Int64
            )
        }
        let sessions = try Row.fetchAll(
            database,
            sql: "SELECT name, session FROM grdb_cloudkit_record"
        ).map { (StoredName.text($0[0]), $0[1] as Int64) }
        let session = Dictionary(uniqueKeysWithValues: sessions)
        try database.execute(sql: tables)
        for record in records {
            let name = record.recordID.recordName
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: archiver)
            var fields: [String: StoreValue] = [:]
            for field in record.allKeys() { fields[field] = value(record[field]) }
            try database.execute(
                sql: """
                    INSERT INTO grdb_cloudkit_record (name, tbl, key, type, tag, system, base, session)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    name, record.recordType, name.split(separator: ":").last.map(String.init),
                    record.recordType, record.recordChangeTag, archiver.encodedData,
                    FieldCoding.data(fields), session[name],
                ]
            )
        }
        for save in sent {
            try database.execute(
                sql: "INSERT INTO grdb_cloudkit_sent VALUES (?, ?, ?, ?)",
                arguments: [save.name, save.fields, save.version, save.entry]
            )
        }
    }

    private static func value(_ value: (any CKRecordValueProtocol)?) -> StoreValue {
        switch value {
        case let text as String: .text(text)
        case let number as Int64: .integer(number)
        case let reference as CKRecord.Reference: .reference(reference.recordID.recordName)
        case let texts as [String]: .list(texts.map(StoreValue.text))
        default: .null
        }
    }

    private static let tables = """
        DROP TABLE grdb_cloudkit_record;
        DROP TABLE grdb_cloudkit_sent;
        DROP TABLE grdb_cloudkit_word;
        ALTER TABLE grdb_cloudkit_control DROP COLUMN words;
        UPDATE grdb_cloudkit_control SET version = 4;
        CREATE TABLE grdb_cloudkit_record (
            name TEXT PRIMARY KEY,
            tbl TEXT,
            key TEXT,
            type TEXT NOT NULL,
            tag TEXT,
            system BLOB,
            base BLOB NOT NULL,
            waiting TEXT,
            goes INTEGER NOT NULL DEFAULT 0,
            problem TEXT,
            session INTEGER NOT NULL DEFAULT 0,
            zone TEXT NOT NULL DEFAULT '',
            lacks INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE grdb_cloudkit_sent (
            name TEXT PRIMARY KEY,
            fields BLOB NOT NULL,
            version INTEGER NOT NULL,
            entry INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX grdb_cloudkit_record_waiting ON grdb_cloudkit_record (waiting)
            WHERE waiting IS NOT NULL;
        CREATE INDEX grdb_cloudkit_record_goes ON grdb_cloudkit_record (goes) WHERE goes <> 0;
        CREATE INDEX grdb_cloudkit_record_problem ON grdb_cloudkit_record (problem)
            WHERE problem IS NOT NULL;
        CREATE INDEX grdb_cloudkit_record_unknown ON grdb_cloudkit_record (type) WHERE tbl IS NULL;
        CREATE INDEX grdb_cloudkit_record_lacks ON grdb_cloudkit_record (lacks) WHERE lacks <> 0;
        """

    /// Converts a file of version 4 to version 1, 2 or 3.
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
                DROP TABLE IF EXISTS cloudkit_gone;
                DROP TABLE IF EXISTS cloudkit_deleted;
                ALTER TABLE cloudkit_record ADD COLUMN sent BLOB;
                ALTER TABLE cloudkit_record ADD COLUMN sentVersion INTEGER;
                ALTER TABLE cloudkit_record ADD COLUMN sentEntry INTEGER;
                UPDATE cloudkit_control SET version = \(version);
                """
        )
        if version < 3 { try database.execute(sql: withoutSent) }
        if version < 2 { try database.execute(sql: withoutSharing) }
    }

    /// The SQL for versions before 3, in which saves without a response had no separate table.
    private static let withoutSent = """
        CREATE INDEX cloudkit_record_sent ON cloudkit_record (sentVersion)
            WHERE sentVersion IS NOT NULL;
        UPDATE cloudkit_record SET (sent, sentVersion, sentEntry) =
            (SELECT fields, version, entry FROM cloudkit_sent s WHERE s.name = cloudkit_record.name);
        DROP TABLE cloudkit_sent;
        """

    /// The SQL for versions before 2, in which nothing was shared.
    private static let withoutSharing = """
        DROP TABLE cloudkit_place; DROP TABLE cloudkit_share; DROP TABLE cloudkit_zone;
        DROP TABLE cloudkit_public;
        DROP INDEX cloudkit_record_lacks;
        ALTER TABLE cloudkit_record DROP COLUMN lacks;
        ALTER TABLE cloudkit_record DROP COLUMN zone;
        ALTER TABLE cloudkit_control DROP COLUMN sharedEngine;
        """
}
