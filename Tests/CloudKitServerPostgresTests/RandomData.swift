#if PostgreSQL
import CloudKitServerCore
import Foundation

/// Random rows of all tables, as a server could have them.
struct RandomData {
    private(set) var rows: [String: [[DataValue]]] = [:]
    private var generator: SplitMix
    private var numbers: Int64 = 0

    /// A zone of now or of a snapshot, with the numbers of the records that it had at any time.
    private struct Zone {
        var database: Int64
        var id: Int64
        var records: [Int64]
    }

    init(seed: UInt64, recordsPerZone: Int = 9) {
        generator = SplitMix(state: seed)
        addAccounts()
        let databases = (1...3).map { _ in number() }
        var zones: [Zone] = []
        for database in databases {
            for _ in 0..<2 {
                let records = (0..<recordsPerZone).map { _ in number() }
                zones.append(Zone(database: database, id: number(), records: records))
            }
        }
        addDatabases(databases)
        // The last one belongs to snapshots alone.
        for zone in zones.dropLast() { addZone(zone, "") }
        for snapshot in [number(), number()] {
            rows["snapshot", default: []].append([
                .integer(snapshot), text(), unique("snapshot"), integer(),
            ])
            addKept(snapshot, databases, Array(zones.dropFirst()))
        }
    }

    /// The highest numbers of rows.
    var counters: DataCounters { DataCounters(row: numbers + 7, push: numbers + 9) }

    /// Writes all rows to empty data.
    func write(to data: some DataStore) throws {
        try data.write { writer in
            for table in DataTable.all { try writer.add(rows[table.name] ?? [], to: table) }
            try writer.finishRows(counters)
        }
    }

    // MARK: Values

    private mutating func number() -> Int64 {
        numbers += 1
        return numbers
    }

    private mutating func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    private mutating func integer() -> DataValue {
        .integer([0, 1, -1, .max, .min, Int64(random(1_000_000))][random(6)])
    }

    private mutating func flag() -> DataValue { .integer(Int64(random(2))) }

    private mutating func text() -> DataValue {
        let texts = ["", "a", "a\u{0}b", "\u{0}", "é", "e\u{301}", "🦊 \"'\\x00", "plain"]
        return .bytes(Data(texts[random(texts.count)].utf8))
    }

    /// Returns a text that no other row of its kind has.
    private mutating func unique(_ prefix: String) -> DataValue {
        let end = ["", "\u{0}", "\u{0}é", "'"][random(4)]
        return .bytes(Data("\(prefix)\(number())\(end)".utf8))
    }

    private mutating func bytes() -> DataValue {
        .bytes(Data((0..<[0, 1, 7, 40][random(4)]).map { _ in UInt8(random(256)) }))
    }

    private mutating func optional(_ value: (inout Self) -> DataValue) -> DataValue {
        random(2) == 0 ? .null : value(&self)
    }

    private mutating func add(_ table: String, _ row: [DataValue]) {
        rows[table, default: []].append(row)
    }

    // MARK: Rows

    private mutating func addAccounts() {
        for _ in 0..<5 {
            add("setting", [unique("setting"), bytes()])
            add(
                "account",
                [
                    .integer(number()), text(), unique("_"), optional { $0.text() },
                    optional { $0.text() }, optional { $0.text() },
                ]
            )
            let hash = number()
            add(
                "credential",
                [
                    .integer(Int64(random(3))),
                    .bytes(hash == 5 ? Data() : Data("\(hash)".utf8)), integer(),
                    optional { $0.integer() }, optional { $0.bytes() }, optional { $0.integer() },
                ]
            )
            add("document", [text(), unique("document"), bytes()])
            add("push", [.integer(number()), bytes(), optional { $0.unique("slot") }, bytes()])
        }
    }

    private mutating func addDatabases(_ databases: [Int64]) {
        let environments = (0..<2).map { _ in number() }
        for environment in environments {
            add(
                "environment",
                [
                    .integer(environment), unique("container"), text(), integer(),
                    optional { $0.bytes() },
                ]
            )
        }
        for database in databases {
            add(
                "database",
                [
                    .integer(database), .integer(environments[random(2)]), .integer(number()),
                    integer(), integer(),
                ]
            )
        }
    }

    /// Adds a zone with its rows.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - prefix: What precedes the names of its tables.
    ///   - snapshot: The first value of each row.
    private mutating func addZone(_ zone: Zone, _ prefix: String, _ snapshot: [DataValue] = []) {
        let database = DataValue.integer(zone.database)
        let id = DataValue.integer(zone.id)
        add(
            prefix + "zone",
            snapshot + [
                database, id, unique("zone"), integer(), integer(), integer(), flag(), integer(),
                integer(), integer(), optional { $0.text() },
            ]
        )
        for record in zone.records where random(5) > 0 {
            add(prefix + "record", snapshot + self.record(record, zone))
            for _ in 0..<random(3) {
                let row: [DataValue] = [
                    database, id, .integer(Int64(random(2))),
                    .bytes(Data([UInt8](repeating: 0, count: random(3)))), .integer(record),
                ]
                addOnce(prefix + "index_entry", snapshot + row)
            }
            for _ in 0..<random(3) {
                let row: [DataValue] = [
                    database, id, text(), text(), .integer(record), .integer(Int64(random(3))),
                ]
                addOnce(prefix + "reference", snapshot + row)
            }
            let asset = DataValue.bytes(Data(repeating: UInt8(random(4)), count: 32))
            if random(2) == 0 {
                add(prefix + "asset", snapshot + [database, .integer(record), asset])
            }
            if prefix.isEmpty, random(2) == 0 {
                let sequence = DataValue.integer(record)
                add("sighting", [database, id, .integer(1), sequence, .integer(record)])
            }
        }
    }

    private mutating func addOnce(_ table: String, _ row: [DataValue]) {
        guard rows[table]?.contains(row) != true else { return }
        add(table, row)
    }

    /// Returns the row of a record; the same one more often than not.
    private mutating func record(_ record: Int64, _ zone: Zone) -> [DataValue] {
        if random(2) == 0, let known = rows["record"]?.first(where: { $0[3] == .integer(record) }) {
            return known
        }
        let row: [DataValue] = [
            .integer(zone.database), .integer(zone.id), .integer(number()), .integer(record),
            unique("record"), text(), integer(), text(), integer(), text(), flag(),
            optional { $0.text() }, optional { $0.text() }, flag(), bytes(),
            optional { $0.bytes() },
        ]
        let table = DataTable.all.first { $0.name == "record" }
        return row + [.integer(table?.checksum(of: row) ?? 0)]
    }

    private mutating func addKept(_ snapshot: Int64, _ databases: [Int64], _ zones: [Zone]) {
        let number = [DataValue.integer(snapshot)]
        for table in ["environment", "document"] {
            for row in rows[table] ?? [] where random(3) > 0 {
                var row = row
                row[row.count - 1] = bytes()
                add("kept_" + table, number + row)
            }
        }
        for row in rows["database"] ?? [] {
            add("kept_database", number + row.dropLast() + [integer()])
        }
        for zone in zones where random(6) > 0 { addZone(zone, "kept_", number) }
    }
}

/// All rows of some data, in order, by table.
func dump(_ data: some DataStore) throws -> [String: [[DataValue]]] {
    try data.read { reader in
        var found: [String: [[DataValue]]] = [:]
        for table in DataTable.all {
            let rows = try reader.rows(of: table, after: nil)
            while let row = try rows.next() { found[table.name, default: []].append(row) }
        }
        return found
    }
}
#endif
