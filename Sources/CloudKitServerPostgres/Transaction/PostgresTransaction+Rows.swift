#if PostgreSQL
import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Rows of the tables, and the queries that read them.
extension PostgresTransaction {
    static let selectEnvironment = "SELECT id, container, kind, schema_version FROM environment"

    static func environment(_ row: ResultRow) throws -> StoredEnvironment {
        guard let kind = ServiceEnvironment(rawValue: row.text(2)) else {
            throw StorageError(.corrupt, "An environment is of an unknown kind")
        }
        return StoredEnvironment(
            id: RowID(rawValue: row.int(0)),
            container: row.text(1),
            kind: kind,
            schemaVersion: row.int(3)
        )
    }

    static let selectUser =
        "SELECT id, container, record_name, given_name, family_name, email_address FROM account"

    static func user(_ row: ResultRow) -> StoredUser {
        StoredUser(
            id: RowID(rawValue: row.int(0)),
            container: row.text(1),
            recordName: row.text(2),
            givenName: row.optionalText(3),
            familyName: row.optionalText(4),
            emailAddress: row.optionalText(5)
        )
    }

    static func push(_ row: ResultRow) -> StoredPush {
        StoredPush(
            id: RowID(rawValue: row.int(1)),
            queue: row.bytes(0),
            slot: row.optionalText(2),
            body: row.bytes(3)
        )
    }

    static let selectCredential =
        "SELECT kind, hash, environment, account, companion, expires FROM credential"

    static func credential(_ row: ResultRow) throws -> StoredCredential {
        guard let kind = StoredCredential.Kind(rawValue: row.int(0)) else {
            throw StorageError(.corrupt, "A credential is of an unknown kind")
        }
        return StoredCredential(
            kind: kind,
            hash: row.bytes(1),
            environment: RowID(rawValue: row.int(2)),
            user: row.optionalInt(3).map(RowID.init(rawValue:)),
            companion: row.optionalBytes(4),
            expires: row.optionalInt(5)
        )
    }

    static let selectDatabase =
        "SELECT id, environment, owner, incarnation, head_sequence FROM database"

    static func selectDatabase(
        _ key: DatabaseKey,
        _ receive: @escaping (ResultRows) throws -> Void
    ) -> Statement {
        selectDatabases(of: [key], in: key.environment, receive)
    }

    /// Returns the read of an environment's databases by their owners.
    static func selectDatabases(
        of keys: [DatabaseKey],
        in environment: RowID<StoredEnvironment>,
        _ receive: @escaping (ResultRows) throws -> Void
    ) -> Statement {
        Statement(
            sql: selectDatabase + " WHERE environment = $1 AND owner = ANY($2)",
            parameters: [
                .int(environment.rawValue), .ints(keys.map { $0.owner?.rawValue ?? 0 }),
            ],
            receive: receive
        )
    }

    static func selectDatabase(
        _ name: DatabaseName,
        _ receive: @escaping (ResultRows) throws -> Void
    ) -> Statement {
        Statement(
            sql: selectDatabase
                + """
                 WHERE environment = $1 AND owner = (
                    SELECT id FROM account WHERE container = $2 AND record_name = $3
                )
                """,
            parameters: [
                .int(name.environment.rawValue), .text(name.container), .text(name.owner),
            ],
            receive: receive
        )
    }

    static func database(_ row: ResultRow) -> StoredDatabase {
        let owner = row.int(2)
        return StoredDatabase(
            id: RowID(rawValue: row.int(0)),
            environment: RowID(rawValue: row.int(1)),
            owner: owner == 0 ? nil : RowID(rawValue: owner),
            incarnation: row.int(3),
            headSequence: row.int(4)
        )
    }

    static let selectZone = "SELECT \(PostgresTables.zoneColumns) FROM zone"

    static func zone(_ row: ResultRow) -> StoredZone {
        StoredZone(
            id: RowID(rawValue: row.int(1)),
            database: RowID(rawValue: row.int(0)),
            name: row.text(2),
            incarnation: row.int(3),
            headSequence: row.int(4),
            changeSequence: row.int(5),
            isDeleted: row.bool(6),
            birthSequence: row.int(7),
            bytes: row.int(8),
            horizonSequence: row.int(9),
            deletionReason: row.optionalText(10).map {
                ZoneDeletionReason(rawValue: $0) ?? .unknown
            }
        )
    }

    static func recordColumns(_ table: String = "") -> String {
        [
            "zone", "id", "name", "type", "sequence", "created_at", "created_by", "modified_at",
            "modified_by", "is_deleted", "parent", "share", "has_assets", "fields", "extra",
            "checksum",
        ].map { table + $0 }.joined(separator: ", ")
    }

    static let selectRecord = "SELECT \(recordColumns()) FROM record"

    static func record(_ row: ResultRow) -> StoredRecord {
        var record = StoredRecord(
            id: RowID(rawValue: row.int(1)),
            zone: RowID(rawValue: row.int(0)),
            name: row.text(2),
            type: row.text(3),
            sequence: row.int(4),
            created: StoredRecord.Stamp(milliseconds: row.int(5), user: row.text(6)),
            modified: StoredRecord.Stamp(milliseconds: row.int(7), user: row.text(8)),
            isDeleted: row.bool(9),
            parent: row.optionalText(10),
            share: row.optionalText(11),
            hasAssets: row.bool(12),
            fields: row.bytes(13),
            extra: row.optionalBytes(14)
        )
        // A head is read without its checksum, and rows of earlier versions have none.
        record.check(against: row.optionalInt(15))
        return record
    }
}
#endif
