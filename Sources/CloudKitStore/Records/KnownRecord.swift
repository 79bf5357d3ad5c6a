import CloudKit
import Foundation
import GRDB

/// What the file knows of a record: the version that the server acknowledged last, and what is on
/// the way.
struct KnownRecord: Sendable {
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
    var base: KnownFields
    /// A save that has not been answered.
    var sent: Sent?
    /// Whether the file has such a save.
    private var hasSent = false
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

    /// A save on its way.
    struct Sent: Sendable {
        var fields: Data
        /// The version that it is stamped with.
        var version: Int64
        /// The version of the outbox entry that it was made from.
        var entry: Int64
    }

    /// Stands for a version that this device saved and that no fetch has brought back.
    static let savedHere: Int64 = -1

    /// The record's name, key and type, before the server knows it.
    init(name: String, key: RowKey?, type: String, zone: String = "") {
        self.name = name
        self.zone = zone
        self.key = key
        self.type = type
        base = KnownFields([:])
    }

    private static let columnNames = [
        "name", "tbl", "key", "type", "tag", "system", "base", "waiting", "goes", "problem",
        "session", "zone", "lacks",
    ]

    /// Saves that were not answered are few, and beside the records, so that noting one does not
    /// write its record again.
    private static let select = """
        SELECT name, \(Words.sql(ofNumber: "tbl")), key, \(Words.sql(ofNumber: "type")), tag, system,
            base, waiting, goes, problem, session, zone, lacks, fields, version, entry,
            \(Words.edition)
        FROM grdb_cloudkit_record LEFT JOIN grdb_cloudkit_sent USING (name) WHERE
        """

    private static let selectOne = "\(select) name = ?"
    private static let selectPortion = "\(select) name IN (\(Portion.marks))"

    private static let upsert = """
        INSERT INTO grdb_cloudkit_record (\(columnNames.joined(separator: ", ")))
        VALUES (\(columnNames.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (name) DO UPDATE
        SET \(columnNames.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    /// A row of ``select``.
    private init(_ row: Row, _ database: Database) throws {
        let words = try Words.of(row[16], database)
        name = StoredName.text(row[0])
        if let table: String = row[1] {
            key = StoredKey.text(row[2], name).map { RowKey(table: table, text: $0) }
        }
        type = row[3] ?? ""
        tag = row[4]
        system = row[5]
        base = KnownFields(stored: row[6], words)
        waiting = row[7]
        goes = row[8]
        problem = row[9]
        session = row[10]
        zone = row[11]
        lacks = row[12]
        if let fields: Data = row[13] {
            sent = Sent(fields: fields, version: row[14], entry: row[15])
            hasSent = true
        }
    }

    /// Whether the server has a version that could not be read; the fields are those of one before,
    /// or none.
    var isUnread: Bool { system != nil && tag == nil }

    /// The fields as the server had them last, or those of them that are asked for.
    ///
    /// - Parameters:
    ///   - rows: Where values are taken from that are kept in the row alone.
    ///   - includesWritten: Whether all fields are among them whose values are
    ///     ``StoreValue/written(_:as:)``, or NULL.
    ///   - isWanted: Whether a field is asked for.
    /// - Returns: The values by field; ``StoreValue/unknown`` where the row has another by now.
    /// - Throws: An error where the file is damaged.
    func baseFields(
        like rows: [String: StoreValue]...,
        includesWritten: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        try base.values(like: rows, includesWritten: includesWritten, where: isWanted)
    }

    /// The record without its values, in a zone; nil while the server has none.
    func archived(in zoneID: CKRecordZone.ID = .default) -> CKRecord? {
        system.flatMap {
            RecordArchive.record(
                $0,
                type: type,
                CKRecord.ID(recordName: recordName, zoneID: zoneID),
                tag: tag
            )
        }
    }

    /// The fields of a save that has not been answered.
    func sentFields() throws -> [String: StoreValue]? {
        try sent.map { try FieldCoding.fields($0.fields) }
    }

    /// The fields as the server has them once it accepts what was sent.
    ///
    /// - Parameters:
    ///   - sent: What was sent.
    ///   - table: The row's table.
    ///   - row: What the row has of it.
    ///   - database: The file.
    /// - Returns: The fields as bytes, with the file's words.
    /// - Throws: An error of the database.
    func acceptedBase(
        _ sent: [String: StoreValue],
        _ table: TableSchema?,
        row: [String: StoreValue] = [:],
        _ database: Database
    ) throws -> (data: Data, words: Words) {
        var before = base
        // A record that is new on the server has what was sent, whatever was known of one of before;
        // fields of no column went along.
        if system == nil, let table {
            before = KnownFields(try baseFields { table.byField[$0] == nil })
        }
        let missing = KnownFields(sent).missingWords(try Words.current(database))
        let words = try Words.adding(missing, database)
        return (try before.data(setting: sent, words, isInRow: keeps(row, table)), words)
    }

    /// Whether a value need not be kept here as well, because the row has it.
    private func keeps(
        _ row: [String: StoreValue],
        _ table: TableSchema?
    ) -> (_ field: String, _ value: StoreValue) -> Bool {
        // What is another user's may have to come back without a fetch.
        guard let table, zone.isEmpty, waiting == nil else { return { _, _ in false } }
        return { field, value in table.keepsOnce(field) && row[field] == value }
    }

    /// Whether the save of some fields was made from an entry as it is, and says all that it does.
    func wentWhole(_ entry: OutboxEntry, with fields: [String: StoreValue]) -> Bool {
        entry.version == sent?.entry && entry.changed.keys.allSatisfy(fields.keys.contains)
    }

    /// The references that the record has and its row shows without, because what they refer to has
    /// not come.
    func hiddenReferences(
        in fields: [String: StoreValue],
        _ table: TableSchema
    ) throws -> [String: StoreValue] {
        guard waiting != nil else { return [:] }
        let columns = Set(table.foreignKeys.flatMap(\.columns))
        return try baseFields().known.filter { field, value in
            !value.isNull && fields[field]?.isNull ?? false
                && columns.contains(table.byField[field]?.name ?? "")
        }
    }

    // MARK: In the file

    static func fetch(_ database: Database, name: String) throws -> KnownRecord? {
        let statement = try database.cachedStatement(
            sql: selectOne
        )
        return try Row.fetchOne(statement, arguments: [StoredName.value(name)])
            .map { try KnownRecord($0, database) }
    }

    /// The records of some names, by name.
    static func fetch(_ database: Database, names: [String]) throws -> [String: KnownRecord] {
        let statement = try database.cachedStatement(
            sql: selectPortion
        )
        var records = [String: KnownRecord](minimumCapacity: names.count)
        for portion in Portion.of(names.map(StoredName.value)) {
            let rows = try Row.fetchCursor(statement, arguments: portion)
            while let row = try rows.next() {
                let record = try KnownRecord(row, database)
                records[record.name] = record
            }
        }
        return records
    }

    /// The versions that the server acknowledged of some records of a zone, by name, and the fetches
    /// that saw them last.
    static func tags(
        _ database: Database,
        of names: [String],
        in zone: String
    ) throws -> [String: (tag: String, session: Int64)] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT name, tag, session, zone FROM grdb_cloudkit_record
                WHERE name IN (\(Portion.marks)) AND tag IS NOT NULL
                """
        )
        var tags: [String: (tag: String, session: Int64)] = [:]
        for portion in Portion.of(names.map(StoredName.value)) {
            let rows = try Row.fetchCursor(statement, arguments: portion)
            while let row = try rows.next() {
                if row[3] as String == zone { tags[StoredName.text(row[0])] = (row[1], row[2]) }
            }
        }
        return tags
    }

    /// The keys of a table's rows that the server has.
    static func keys(_ database: Database, of table: String) throws -> [String] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT name, key FROM grdb_cloudkit_record
                WHERE tbl = \(Words.sql("?")) AND system IS NOT NULL
                """,
            arguments: [table]
        )
        var keys: [String] = []
        while let row = try rows.next() {
            if let key = StoredKey.text(row[1], StoredName.text(row[0])) { keys.append(key) }
        }
        return keys
    }

    /// Notes that a fetch saw records.
    static func mark(_ database: Database, _ names: [String], _ session: Int64) throws {
        for portion in Portion.of(names.map(StoredName.value)) {
            try database.run(
                """
                UPDATE grdb_cloudkit_record SET session = \(session)
                WHERE name IN (\(Portion.marks)) AND session <> \(session)
                """,
                portion
            )
        }
    }

    /// The records that a condition selects, by name.
    static func fetchAll(
        _ database: Database,
        where condition: String,
        arguments: StatementArguments = []
    ) throws -> [KnownRecord] {
        let statement = try database.cachedStatement(sql: "\(select) \(condition)")
        return try Row.fetchAll(statement, arguments: arguments)
            .map { try KnownRecord($0, database) }
            .sorted { $0.name < $1.name }
    }

    /// Writes the record.
    ///
    /// - Parameters:
    ///   - database: The file.
    ///   - row: The row as it is now; what the record has of it is not kept twice.
    ///   - table: The row's table.
    /// - Throws: An error of the database.
    func save(
        _ database: Database,
        row: [String: StoreValue] = [:],
        _ table: TableSchema? = nil
    ) throws {
        let base = try baseData(database, row: row, table)
        try save(database, base: base, Words.current(database))
    }

    /// The fields as bytes beside a row as it is now.
    func baseData(
        _ database: Database,
        row: [String: StoreValue] = [:],
        _ table: TableSchema? = nil
    ) throws -> Data {
        var words = try Words.current(database)
        let missing = base.missingWords(words)
        if !missing.isEmpty { words = try Words.adding(missing, database) }
        return try base.data(words, isInRow: keeps(row, table))
    }

    /// Writes the record with fields that are bytes already.
    func save(_ database: Database, base: Data, _ words: Words) throws {
        var words = words
        let names = [type] + (key.map { [$0.table] } ?? [])
        if names.contains(where: { words.number(of: $0) == nil }) {
            words = try Words.adding(names, database, areNeeded: true)
        }
        let statement = try database.cachedStatement(sql: Self.upsert)
        let keepsKey = zone.isEmpty && waiting == nil && problem == nil
        try statement.execute(arguments: [
            StoredName.value(name), key.flatMap { words.number(of: $0.table) },
            keepsKey ? StoredKey.value(key?.text, name) : key?.text.databaseValue,
            words.number(of: type), tag, system, base, waiting, goes, problem, session, zone, lacks,
        ])
        try saveSent(database)
    }

    /// Has the record taken in when it comes again, although it is the version that the file knows.
    func forgetTag(_ database: Database) throws {
        try database.run(
            "UPDATE grdb_cloudkit_record SET tag = NULL WHERE name = ?",
            [StoredName.value(name)]
        )
    }

    /// Has the next fetch bring the record again, and so everything.
    func fetchAgain(_ database: Database) throws {
        try forgetTag(database)
        try database.run("UPDATE grdb_cloudkit_control SET engine = NULL")
    }

    /// Notes what is on the way of a record that the file has.
    func saveSent(_ database: Database) throws {
        if let sent {
            try database.run(
                "INSERT OR REPLACE INTO grdb_cloudkit_sent VALUES (?, ?, ?, ?)",
                [StoredName.value(name), sent.fields, sent.version, sent.entry]
            )
        } else if hasSent {
            try database.run(
                "DELETE FROM grdb_cloudkit_sent WHERE name = ?",
                [StoredName.value(name)]
            )
        }
    }

    /// Notes what the server accepted of a record that the file has, but not that it was answered.
    ///
    /// - Parameters:
    ///   - database: The file.
    ///   - record: What it accepted.
    ///   - base: The fields as the server has them now.
    ///   - tag: The tag that the record had when it went.
    ///   - version: The version that it was stamped with.
    ///   - entry: The version of the outbox entry that says that the row has not changed since; nil
    ///     where that does not matter.
    /// - Returns: Whether the file has that record still; if not, nothing is noted.
    /// - Throws: An error of the database.
    static func accept(
        _ database: Database,
        _ record: SavedRecord,
        base: Data,
        after tag: String?,
        version: Int64?,
        entry: Int64? = nil
    ) throws -> Bool {
        try database.run(
            """
            UPDATE grdb_cloudkit_record SET tag = ?1, system = ?2, base = ?3,
                session = \(savedHere), problem = NULL
            WHERE name = ?4 AND tag IS ?5
                AND (SELECT version FROM grdb_cloudkit_sent WHERE name = ?4) IS ?6
                AND (?7 IS NULL OR EXISTS (SELECT 1 FROM grdb_cloudkit_outbox WHERE version = ?7))
            """,
            [record.tag, record.system, base, StoredName.value(record.name), tag, version, entry]
        )
        return database.changesCount == 1
    }

    /// Forgets saves that were answered.
    static func clearSent(_ database: Database, names: [String]) throws {
        for portion in Portion.of(names.map(StoredName.value)) {
            try database.run(
                "DELETE FROM grdb_cloudkit_sent WHERE name IN (\(Portion.marks))",
                portion
            )
        }
    }

    func delete(_ database: Database) throws {
        let name = StoredName.value(name)
        try database.run("DELETE FROM grdb_cloudkit_record WHERE name = ?", [name])
        try database.run("DELETE FROM grdb_cloudkit_sent WHERE name = ?", [name])
        if let key { try Place.remove(database, key) }
    }
}
