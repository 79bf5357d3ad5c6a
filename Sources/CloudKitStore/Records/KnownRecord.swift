import CloudKit
import Foundation
import GRDB

/// The file's state of a record: the version that the server last acknowledged, and the save in flight.
struct KnownRecord: Sendable {
    var name: String
    var zone = StoreZone.own
    /// The table and the key; nil for a record of a type unknown to this version of the app.
    var key: RowKey?
    var type: String
    var tag: String?
    /// The system fields; nil while the server does not have the record.
    var system: Data?
    /// The fields of the server's last known version.
    var base: KnownFields
    /// A save without a response.
    var sent: Sent?
    /// `true` when the file has this save.
    private var hasSent = false
    /// The record that must arrive before this one can become a row.
    var waiting: String?
    /// `true` when the record was deleted, and its row waits until no row refers to it.
    var goes = false
    /// The reason why the record cannot become a row.
    var problem: String?
    /// `true` when assets of its row remain to be downloaded.
    var lacks = false
    /// The last fetch that included it, or ``savedHere``.
    var session: Int64 = 0

    /// A save in flight.
    struct Sent: Sendable {
        var fields: Data
        /// The version in its stamp.
        var version: Int64
        /// The version of its outbox entry.
        var entry: Int64
    }

    /// A marker for a version that this device saved and that no fetch has brought back.
    static let savedHere: Int64 = -1

    /// A marker for a record of which another client's file says that the server has it, but not with which fields.
    static let assumedThere: Int64 = -2

    /// Creates a record that the server has according to another client's file.
    static func assumed(
        _ name: String,
        _ key: RowKey,
        _ table: TableSchema,
        in zone: StoreZone,
        _ zoneID: CKRecordZone.ID
    ) -> KnownRecord {
        var known = KnownRecord(name: name, key: key, type: table.recordType, zone: zone)
        known.system = RecordArchive.data(
            CKRecord(
                recordType: table.recordType,
                recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
            )
        )
        known.session = assumedThere
        return known
    }

    /// Creates a record that the server does not have, from its name, key and type.
    init(name: String, key: RowKey?, type: String, zone: StoreZone = .own) {
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

    /// Saves without a response are few, and stored beside the records, so that noting one does not
    /// rewrite its record.
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

    /// Creates a record from a row of ``select``.
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

    /// `true` when the server has the record, or had it before it was deleted or left this user's sight.
    var wasSent: Bool { system != nil || session != 0 }

    /// `true` when the server has a version that could not be read; the fields are then those of an
    /// earlier one, or empty.
    var isUnread: Bool { system != nil && tag == nil }

    /// Returns the fields of the server's last known version, or the requested ones.
    ///
    /// - Parameters:
    ///   - rows: The rows that hold values which are stored only there.
    ///   - includesWritten: Whether to include all fields whose values are
    ///     ``StoreValue/written(_:as:)``, or NULL.
    ///   - isWanted: A closure that returns whether a field is requested.
    /// - Returns: The values by field; ``StoreValue/unknown`` if the row has another by now.
    /// - Throws: An error if the file is damaged.
    func baseFields(
        like rows: [String: StoreValue]...,
        includesWritten: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        try base.values(like: rows, includesWritten: includesWritten, where: isWanted)
    }

    /// Returns the record without its values, in a zone; nil while the server has none.
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

    /// Returns the fields of a save without a response.
    func sentFields() throws -> [String: StoreValue]? {
        try sent.map { try FieldCoding.fields($0.fields) }
    }

    /// Returns the fields that the server has once it accepts the sent ones.
    ///
    /// - Parameters:
    ///   - sent: The sent fields.
    ///   - table: The row's table.
    ///   - row: The row's current fields.
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
        // A new record on the server has the sent fields, whatever an earlier one had; fields
        // without a column were sent too.
        if system == nil, let table {
            before = KnownFields(try baseFields { table.byField[$0] == nil })
        }
        let missing = KnownFields(sent).missingWords(try Words.current(database))
        let words = try Words.adding(missing, database)
        return (try before.data(setting: sent, words, isInRow: keeps(row, table)), words)
    }

    /// Returns whether a value need not be stored here as well, because the row has it.
    private func keeps(
        _ row: [String: StoreValue],
        _ table: TableSchema?
    ) -> (_ field: String, _ value: StoreValue) -> Bool {
        // Another user's values may have to be restored without a fetch.
        guard let table, zone == .own, waiting == nil else { return { _, _ in false } }
        return { field, value in table.keepsOnce(field) && row[field] == value }
    }

    /// Returns whether a save was made from the current version of an entry, and includes all its changes.
    func wentWhole(_ entry: OutboxEntry, with fields: [String: StoreValue]) -> Bool {
        entry.version == sent?.entry && entry.changed.keys.allSatisfy(fields.keys.contains)
    }

    /// Returns the references that the record has and its row shows without, because their targets
    /// have not arrived.
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

    /// Returns the names of the quarantined records with their zones, as ``name(_:asideIn:)`` writes them.
    static func quarantinedNames(_ database: Database) throws -> Set<String> {
        try Set(
            fetchAll(database, where: "problem IS NOT NULL").map {
                name($0.recordName, asideIn: $0.zone)
            }
        )
    }

    /// Returns the records with some names, by name.
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

    /// Returns the last acknowledged versions of some records of a zone, by name, with the last
    /// fetches that included them.
    static func tags(
        _ database: Database,
        of names: [String],
        in zone: StoreZone
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
                if row[3] as StoreZone == zone { tags[StoredName.text(row[0])] = (row[1], row[2]) }
            }
        }
        return tags
    }

    /// Returns the keys of a table's rows that the server has.
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

    /// Marks records as included in a fetch.
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

    /// Returns the records that a condition selects, by name.
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

    /// Saves the record.
    ///
    /// - Parameters:
    ///   - database: The file.
    ///   - row: The current row; its values are not stored twice.
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

    /// Returns the fields as bytes, stored relative to the current row.
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

    /// Saves the record with fields that are already encoded.
    func save(_ database: Database, base: Data, _ words: Words) throws {
        var words = words
        let names = [type] + (key.map { [$0.table] } ?? [])
        if names.contains(where: { words.number(of: $0) == nil }) {
            words = try Words.adding(names, database, areNeeded: true)
        }
        let statement = try database.cachedStatement(sql: Self.upsert)
        let keepsKey = zone == .own && waiting == nil && problem == nil
        try statement.execute(arguments: [
            StoredName.value(name), key.flatMap { words.number(of: $0.table) },
            keepsKey ? StoredKey.value(key?.text, name) : key?.text.databaseValue,
            words.number(of: type), tag, system, base, waiting, goes, problem, session, zone, lacks,
        ])
        try saveSent(database)
    }

    /// Forgets the record's tag, so that it is applied when it arrives again, even unchanged.
    func forgetTag(_ database: Database) throws {
        try database.run(
            "UPDATE grdb_cloudkit_record SET tag = NULL WHERE name = ?",
            [StoredName.value(name)]
        )
    }

    /// Schedules a fetch of everything, which brings the record again.
    func fetchAgain(_ database: Database) throws {
        try forgetTag(database)
        try database.run("UPDATE grdb_cloudkit_control SET engine = NULL")
    }

    /// Stores the save in flight of a record that the file has.
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

    /// Stores an accepted version of a record in the file, without clearing its save.
    ///
    /// A quarantined record stays so: its row may lack other fields than the accepted ones.
    ///
    /// - Parameters:
    ///   - database: The file.
    ///   - record: The accepted record.
    ///   - base: The fields that the server has now.
    ///   - tag: The record's tag when it was sent.
    ///   - version: The version in its stamp.
    ///   - entry: The version of the outbox entry which shows that the row has not changed since;
    ///     nil if that does not matter.
    /// - Returns: Whether the file still has that record; otherwise nothing is stored.
    /// - Throws: An error of the database.
    static func accept(
        _ database: Database,
        _ record: SavedRecord,
        base: Data,
        after tag: String?,
        version: Int64?,
        entry: Int64? = nil
    ) throws -> Bool {
        // Only over the state that was sent. Another tag means that a newer version was fetched
        // meanwhile, another version that a later save is in flight, and without the entry the row
        // has changed, to which the base is relative.
        try database.run(
            """
            UPDATE grdb_cloudkit_record SET tag = ?1, system = ?2, base = ?3,
                session = \(savedHere)
            WHERE name = ?4 AND tag IS ?5
                AND (SELECT version FROM grdb_cloudkit_sent WHERE name = ?4) IS ?6
                AND (?7 IS NULL OR EXISTS (SELECT 1 FROM grdb_cloudkit_outbox WHERE version = ?7))
            """,
            [record.tag, record.system, base, StoredName.value(record.name), tag, version, entry]
        )
        return database.changesCount == 1
    }

    /// Deletes saves that have a response.
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

extension KnownRecord {
    /// Returns the name under which a record is kept while its own name belongs to another record.
    static func name(_ name: String, asideIn zone: StoreZone) -> String { "\(zone.text)\n\(name)" }

    /// The record's name on the server.
    var recordName: String { Self.recordName(name) }

    /// Returns the server's name of a record that is kept under another name.
    static func recordName(_ name: String) -> String {
        name.split(separator: "\n").last.map(String.init) ?? name
    }

    /// Returns whether a row shows NULL for a reference because its target stays with the owner.
    func hidesTarget(of value: StoreValue) -> Bool {
        guard zone.isShared, case .reference = value.plain else { return false }
        return true
    }

    /// Forgets that the server has the record, but neither its fields nor what its row waits for.
    mutating func forgetServer() {
        tag = nil
        system = nil
        sent = nil
        goes = false
        problem = nil
    }
}
