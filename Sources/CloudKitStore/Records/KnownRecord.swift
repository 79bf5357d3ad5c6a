import Foundation
import GRDB

/// What the file knows of a record: the version that the server acknowledged last, and what is on
/// the way.
struct KnownRecord {
    var name: String
    /// The zone, as ``StoreFile/zone(_:)`` has it; empty for the user's own.
    var zone = ""
    /// The table and the key; nil for a record of a type that this version of the app does not know.
    var key: RowKey?
    var type: String
    var tag: String?
    /// The system fields; nil while the server has no such record.
    var system: Data?
    /// The fields as the server had them last.
    var base: Data
    /// The fields of a save that has not been answered.
    var sent: Data?
    /// The version that the save is stamped with.
    var sentVersion: Int64?
    /// The version of the outbox entry that the save was made from.
    var sentEntry: Int64?
    /// The record that must come before this one can be a row.
    var waiting: String?
    /// Whether the record was deleted, and its row waits for others to leave it.
    var goes = false
    /// Why the record cannot be a row.
    var problem: String?
    /// Whether bytes that belong to its row are yet to be downloaded.
    var lacks = false
    /// The fetch that saw it last, or ``savedHere``.
    var session: Int64 = 0

    /// Stands for a version that this device saved and that no fetch has brought back.
    static let savedHere: Int64 = -1

    /// The record's name, key and type, before the server knows it.
    init(name: String, key: RowKey?, type: String, zone: String = "") {
        self.name = name
        self.zone = zone
        self.key = key
        self.type = type
        base = FieldCoding.data([:])
    }

    private init(_ row: Row) {
        name = row["name"]
        zone = row["zone"]
        type = row["type"]
        tag = row["tag"]
        system = row["system"]
        base = row["base"]
        sent = row["sent"]
        sentVersion = row["sentVersion"]
        sentEntry = row["sentEntry"]
        waiting = row["waiting"]
        goes = row["goes"]
        problem = row["problem"]
        session = row["session"]
        lacks = row["lacks"]
        if let table: String = row["tbl"], let text: String = row["key"] {
            key = RowKey(table: table, text: text)
        }
    }

    /// The fields as the server had them last.
    func baseFields() throws -> [String: StoreValue] { try FieldCoding.fields(base) }

    /// The fields of a save that has not been answered.
    func sentFields() throws -> [String: StoreValue]? { try sent.map(FieldCoding.fields) }

    // MARK: In the file

    static func fetch(_ database: Database, name: String) throws -> KnownRecord? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM cloudkit_record WHERE name = ?"
        )
        return try Row.fetchOne(statement, arguments: [name]).map(KnownRecord.init)
    }

    /// The records that a condition selects.
    static func fetchAll(
        _ database: Database,
        where condition: String,
        arguments: StatementArguments = []
    ) throws -> [KnownRecord] {
        try Row.fetchAll(
            database,
            sql: "SELECT * FROM cloudkit_record WHERE \(condition) ORDER BY name",
            arguments: arguments
        ).map(KnownRecord.init)
    }

    func save(_ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO cloudkit_record (name, tbl, key, type, tag, system, base,
                    sent, sentVersion, sentEntry, waiting, goes, problem, session, zone,
                    lacks)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            name, key?.table, key?.text, type, tag, system, base, sent, sentVersion, sentEntry,
            waiting, goes, problem, session, zone, lacks,
        ])
    }

    func delete(_ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM cloudkit_record WHERE name = ?",
            arguments: [name]
        )
        if let key { try Place.remove(database, key) }
    }
}
