#if PostgreSQL
/// The rows of saves as the engine wrote them, written again under other names by one connection.
final class FloorWriter: @unchecked Sendable {
    /// The rows of one request.
    private struct Rows {
        var zone: FloorConnection.Zone
        var record: Values
        var entries: Values
        /// The number of records.
        var count: Int
        /// The record of each index entry, by its place in the request.
        var owners: [Int] = []
        var name: String
        /// The places of the common part of the names, in records and in keys of entries.
        var places: (record: [Int], entries: [Int])
    }

    private static let columns = [
        "id", "zone", "name", "type", "sequence", "created_at", "created_by", "modified_at",
        "modified_by", "is_deleted", "parent", "share", "has_assets", "fields", "extra",
    ]

    private let libpq: Libpq
    /// The first number of a row, apart from those of other writers.
    private let firstNumber: Int64
    private var all: [Rows] = []
    private var next = 0
    private let begin: String
    private let commit: String
    private let addRecords: String
    private let addEntries: String
    private let updateZone: String
    private let updateDatabase: String

    /// Reads the rows of a request of users, and creates the tables into which they are written again.
    ///
    /// - Parameters:
    ///   - address: The address of the database.
    ///   - batch: The number of the request.
    ///   - count: The number of its records.
    ///   - part: Which of the users are this connection's.
    ///   - parts: The number of connections that share the users.
    /// - Throws: An error of PostgreSQL, or `BenchError` if there are no such rows.
    init(
        _ address: String,
        copying batch: Int,
        count: Int,
        part: Int = 0,
        of parts: Int = 1
    ) throws {
        let connection = try FloorConnection(address)
        libpq = connection.libpq
        firstNumber = Int64(batch) * 100_000_000
        try Self.createTables(libpq)
        let name = NoteBatch.name(batch)
        for (place, zone) in try connection.zones().enumerated() where place % parts == part {
            if let rows = try Self.rows(libpq, zone, name, count) { all.append(rows) }
        }
        guard !all.isEmpty else { throw BenchError(description: "No rows of \(name) found") }
        begin = try libpq.prepare("BEGIN")
        commit = try libpq.prepare("COMMIT")
        addRecords = try libpq.prepare(Self.addRecords(count))
        addEntries = try libpq.prepare(
            """
            INSERT INTO floor.index_entry (database, zone, number, key, record)
            SELECT $1::bigint, *
            FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])
            """
        )
        updateZone = try libpq.prepare(
            """
            UPDATE floor.zone SET head_sequence = $3, change_sequence = $3, bytes = bytes + 1
            WHERE database = $1 AND id = $2
            """
        )
        updateDatabase = try libpq.prepare(
            "UPDATE floor.database SET head_sequence = $2 WHERE id = $1"
        )
    }

    /// Writes the rows of the next user, under names that a number makes new.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - isStepwise: `true` for a round trip for each statement, `BEGIN` and `COMMIT` among them, which is the
    ///     way of `pgbench`; `false` for one round trip.
    /// - Throws: An error of PostgreSQL.
    func write(_ number: Int, isStepwise: Bool = false) throws {
        next = (next + 1) % all.count
        renew(&all[next], number)
        let rows = all[next]
        let sequence = firstNumber + Int64(number * rows.count)
        var statements = [
            (addRecords, rows.record), (addEntries, rows.entries),
            (updateZone, Values(rows.zone.database, rows.zone.id, sequence)),
            (updateDatabase, Values(rows.zone.database, sequence)),
        ]
        if isStepwise { statements = [(begin, Values())] + statements + [(commit, Values())] }
        for (name, values) in statements {
            try libpq.send(name, values)
            if isStepwise { try libpq.sync() }
        }
        if !isStepwise { try libpq.sync() }
    }

    private func renew(_ rows: inout Rows, _ number: Int) {
        let first = firstNumber + Int64(number * rows.count)
        for place in 0..<rows.count {
            let element = rows.count == 1 ? nil : place
            // The database comes first; the others are in the order of the columns.
            rows.record.set(first + Int64(place), of: 1, element: element)
            rows.record.set(first + Int64(place), of: 5, element: element)
        }
        for (place, owner) in rows.owners.enumerated() {
            rows.entries.set(first + Int64(owner), of: 4, element: place)
        }
        let name = NoteBatch.name(number)
        rows.record.put(name, at: rows.places.record)
        rows.entries.put(name, at: rows.places.entries)
    }

    // MARK: Tables and rows

    private static func createTables(_ libpq: Libpq) throws {
        let isThere = try libpq.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'floor'")
        guard isThere.isEmpty else { return }
        try libpq.rows("CREATE SCHEMA floor")
        for table in ["record", "index_entry", "zone", "database"] {
            try libpq.rows("CREATE TABLE floor.\(table) (LIKE public.\(table) INCLUDING ALL)")
        }
        for table in ["zone", "database"] {
            try libpq.rows("INSERT INTO floor.\(table) SELECT * FROM public.\(table)")
        }
    }

    private static func addRecords(_ count: Int) -> String {
        let names = "database, \(columns.joined(separator: ", "))"
        if count == 1 {
            let places = (1...columns.count + 1).map { "$\($0)" }.joined(separator: ", ")
            return "INSERT INTO floor.record (\(names)) VALUES (\(places))"
        }
        return """
            INSERT INTO floor.record (\(names)) SELECT $1::bigint, * FROM unnest(
                $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[],
                $8::bytea[], $9::bigint[], $10::bytea[], $11::boolean[], $12::bytea[], $13::bytea[],
                $14::boolean[], $15::bytea[], $16::bytea[])
            """
    }

    /// Returns the rows of a request in a zone; nil if it has none.
    private static func rows(
        _ libpq: Libpq,
        _ zone: FloorConnection.Zone,
        _ name: String,
        _ count: Int
    ) throws -> Rows? {
        let isOurs = """
            database = \(zone.database) AND zone = \(zone.id)
            AND substring(name FROM 1 FOR \(name.utf8.count)) = '\(name)'
            """
        let found = columns.map { count == 1 ? $0 : "array_agg(\($0) ORDER BY id)" }
        let records = try libpq.rows(
            "SELECT \(found.joined(separator: ", ")) FROM record WHERE \(isOurs)"
        )
        guard let columns = records.first, columns[0] != nil else { return nil }
        // The places of the records are counted by their numbers, which are in the order of the request.
        let entries = try libpq.rows(
            """
            WITH found AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM record
                WHERE \(isOurs))
            SELECT array_agg(zone ORDER BY record, number, key),
                array_agg(number ORDER BY record, number, key),
                array_agg(key ORDER BY record, number, key),
                array_agg(place ORDER BY record, number, key), count(*)
            FROM index_entry JOIN found ON found.id = record
            WHERE database = \(zone.database)
            """
        )
        var rows = Rows(
            zone: zone,
            record: Values(zone.database),
            entries: Values(zone.database),
            count: count,
            name: name,
            places: ([], [])
        )
        for column in columns { rows.record.append(column) }
        for column in entries[0].dropLast() { rows.entries.append(column) }
        var number = Values()
        number.append(entries[0][4])
        rows.owners = (0..<Int(number.number(0))).map {
            Int(rows.entries.number(4, element: $0))
        }
        guard !rows.owners.isEmpty, rows.owners.max() == count - 1 else {
            throw BenchError(description: "The records of \(name) have no index entries")
        }
        rows.places = (rows.record.places(of: name), rows.entries.places(of: name))
        return rows
    }
}
#endif
