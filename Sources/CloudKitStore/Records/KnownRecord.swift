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
    var base: Data
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
        base = FieldCoding.data([:])
    }

    private static let columnNames = [
        "name", "tbl", "key", "type", "tag", "system", "base", "waiting", "goes", "problem",
        "session", "zone", "lacks",
    ]

    /// Saves that were not answered are few, and beside the records, so that noting one does not
    /// write its record again.
    private static let select = """
        SELECT \(columnNames.joined(separator: ", ")), fields, version, entry
        FROM grdb_cloudkit_record LEFT JOIN grdb_cloudkit_sent USING (name) WHERE
        """

    private static let selectOne = "\(select) name = ?"
    private static let selectPortion = "\(select) name IN (\(Portion.marks))"

    /// The name stays as it is, so that its index need not be written again.
    private static let upsert = """
        INSERT INTO grdb_cloudkit_record (\(columnNames.joined(separator: ", ")))
        VALUES (\(columnNames.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (name) DO UPDATE
        SET \(columnNames.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    /// A row of ``select``.
    private init(_ row: Row) {
        name = row[0]
        if let table: String = row[1], let text: String = row[2] {
            key = RowKey(table: table, text: text)
        }
        type = row[3]
        tag = row[4]
        system = row[5]
        base = row[6]
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
    func baseFields(
        includesWritten: Bool = false,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        try FieldCoding.fields(base, includesWritten: includesWritten, where: isWanted)
    }

    /// The fields of a save that has not been answered.
    func sentFields() throws -> [String: StoreValue]? {
        try sent.map { try FieldCoding.fields($0.fields) }
    }

    /// The fields as the server has them once it accepts what was sent.
    func acceptedBase(_ table: TableSchema?) throws -> Data {
        guard let sent = sent?.fields else { return base }
        guard system == nil, let table else { return try FieldCoding.data(base, setting: sent) }
        // A record that is new on the server has what was sent, whatever was known of one of before;
        // fields of no column went along.
        let kept = try baseFields { table.byField[$0] == nil }
        return try FieldCoding.data(FieldCoding.data(kept), setting: sent)
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
        return try baseFields().filter { field, value in
            !value.isNull && fields[field]?.isNull ?? false
                && columns.contains(table.byField[field]?.name ?? "")
        }
    }

    // MARK: In the file

    static func fetch(_ database: Database, name: String) throws -> KnownRecord? {
        let statement = try database.cachedStatement(
            sql: selectOne
        )
        return try Row.fetchOne(statement, arguments: [name]).map(KnownRecord.init)
    }

    /// The records of some names, by name.
    static func fetch(_ database: Database, names: [String]) throws -> [String: KnownRecord] {
        let statement = try database.cachedStatement(
            sql: selectPortion
        )
        var records = [String: KnownRecord](minimumCapacity: names.count)
        for portion in Portion.of(names) {
            let rows = try Row.fetchCursor(statement, arguments: portion)
            while let row = try rows.next() {
                let record = KnownRecord(row)
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
        for portion in Portion.of(names) {
            let rows = try Row.fetchCursor(statement, arguments: portion)
            while let row = try rows.next() {
                if row[3] as String == zone { tags[row[0]] = (row[1], row[2]) }
            }
        }
        return tags
    }

    /// Notes that a fetch saw records.
    static func mark(_ database: Database, _ names: [String], _ session: Int64) throws {
        for portion in Portion.of(names) {
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
        // The plus keeps SQLite from going through all names in order to spare a sort of few.
        let statement = try database.cachedStatement(
            sql: "\(select) \(condition) ORDER BY +name"
        )
        return try Row.fetchAll(statement, arguments: arguments).map(KnownRecord.init)
    }

    func save(_ database: Database) throws {
        let statement = try database.cachedStatement(sql: Self.upsert)
        try statement.execute(arguments: [
            name, key?.table, key?.text, type, tag, system, base, waiting, goes, problem, session,
            zone, lacks,
        ])
        try saveSent(database)
    }

    /// Notes what is on the way of a record that the file has.
    func saveSent(_ database: Database) throws {
        if let sent {
            try database.run(
                "INSERT OR REPLACE INTO grdb_cloudkit_sent VALUES (?, ?, ?, ?)",
                [name, sent.fields, sent.version, sent.entry]
            )
        } else if hasSent {
            try database.run("DELETE FROM grdb_cloudkit_sent WHERE name = ?", [name])
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
    /// - Returns: Whether the file has that record still; if not, nothing is noted.
    /// - Throws: An error of the database.
    static func accept(
        _ database: Database,
        _ record: SavedRecord,
        base: Data,
        after tag: String?,
        version: Int64?
    ) throws -> Bool {
        try database.run(
            """
            UPDATE grdb_cloudkit_record SET tag = ?, system = ?, base = ?, session = \(savedHere),
                problem = NULL
            WHERE name = ? AND tag IS ?
                AND (SELECT version FROM grdb_cloudkit_sent s WHERE s.name = grdb_cloudkit_record.name) IS ?
            """,
            [record.tag, record.system, base, record.name, tag, version]
        )
        return database.changesCount == 1
    }

    /// Forgets saves that were answered.
    static func clearSent(_ database: Database, names: [String]) throws {
        for portion in Portion.of(names) {
            try database.run(
                "DELETE FROM grdb_cloudkit_sent WHERE name IN (\(Portion.marks))",
                portion
            )
        }
    }

    func delete(_ database: Database) throws {
        try database.run("DELETE FROM grdb_cloudkit_record WHERE name = ?", [name])
        try database.run("DELETE FROM grdb_cloudkit_sent WHERE name = ?", [name])
        if let key { try Place.remove(database, key) }
    }
}
