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

    private static let columnNames = [
        "name", "tbl", "key", "type", "tag", "system", "base", "sent", "sentVersion", "sentEntry",
        "waiting", "goes", "problem", "session", "zone", "lacks",
    ]
    private static let columns = columnNames.joined(separator: ", ")

    /// The name stays as it is, so that its index need not be written again.
    private static let upsert = """
        INSERT INTO cloudkit_record (\(columns))
        VALUES (\(columnNames.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT (name) DO UPDATE
        SET \(columnNames.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    /// A row of the columns above.
    private init(_ row: Row) {
        name = row[0]
        if let table: String = row[1], let text: String = row[2] {
            key = RowKey(table: table, text: text)
        }
        type = row[3]
        tag = row[4]
        system = row[5]
        base = row[6]
        sent = row[7]
        sentVersion = row[8]
        sentEntry = row[9]
        waiting = row[10]
        goes = row[11]
        problem = row[12]
        session = row[13]
        zone = row[14]
        lacks = row[15]
    }

    /// Whether the server has a version that could not be read; the fields are those of one before,
    /// or none.
    var isUnread: Bool { system != nil && tag == nil }

    /// The fields as the server had them last, or those of them that are asked for.
    func baseFields(
        where isWanted: (String) -> Bool = { _ in true }
    ) throws -> [String: StoreValue] {
        try FieldCoding.fields(base, where: isWanted)
    }

    /// The fields of a save that has not been answered.
    func sentFields() throws -> [String: StoreValue]? {
        try sent.map { try FieldCoding.fields($0) }
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
            sql: "SELECT \(columns) FROM cloudkit_record WHERE name = ?"
        )
        return try Row.fetchOne(statement, arguments: [name]).map(KnownRecord.init)
    }

    /// The records of some names, by name.
    static func fetch(_ database: Database, names: [String]) throws -> [String: KnownRecord] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM cloudkit_record WHERE name IN (\(Portion.marks))"
        )
        var records: [String: KnownRecord] = [:]
        for portion in Portion.of(names) {
            for row in try Row.fetchAll(statement, arguments: portion) {
                let record = KnownRecord(row)
                records[record.name] = record
            }
        }
        return records
    }

    /// The records that a condition selects, by name.
    static func fetchAll(
        _ database: Database,
        where condition: String,
        arguments: StatementArguments = []
    ) throws -> [KnownRecord] {
        // The plus keeps SQLite from going through all names in order to spare a sort of few.
        try Row.fetchAll(
            database,
            sql: "SELECT \(columns) FROM cloudkit_record WHERE \(condition) ORDER BY +name",
            arguments: arguments
        ).map(KnownRecord.init)
    }

    func save(_ database: Database) throws {
        let statement = try database.cachedStatement(sql: Self.upsert)
        try statement.execute(arguments: [
            name, key?.table, key?.text, type, tag, system, base, sent, sentVersion, sentEntry,
            waiting, goes, problem, session, zone, lacks,
        ])
    }

    /// Notes what is on the way of a record that the file has.
    func saveSent(_ database: Database) throws {
        try database.run(
            "UPDATE cloudkit_record SET sent = ?, sentVersion = ?, sentEntry = ? WHERE name = ?",
            [sent, sentVersion, sentEntry, name]
        )
    }

    /// Notes what the server accepted of a record that the file has.
    ///
    /// - Parameters:
    ///   - database: The file.
    ///   - before: The record as it went.
    /// - Returns: Whether the file had it so; if not, nothing is noted.
    /// - Throws: An error of the database.
    func saveAccepted(_ database: Database, after before: KnownRecord) throws -> Bool {
        try database.run(
            """
            UPDATE cloudkit_record SET tag = ?, system = ?, base = ?, session = ?, problem = NULL,
                sent = NULL, sentVersion = NULL, sentEntry = NULL
            WHERE name = ? AND tag IS ? AND sentVersion IS ?
            """,
            [tag, system, base, session, name, before.tag, before.sentVersion]
        )
        return database.changesCount == 1
    }

    func delete(_ database: Database) throws {
        try database.run("DELETE FROM cloudkit_record WHERE name = ?", [name])
        if let key { try Place.remove(database, key) }
    }
}
