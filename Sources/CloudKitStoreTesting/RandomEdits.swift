import CloudKitStore
import Foundation
import GRDB

/// Random edits of an app's tables.
struct RandomEdits {
    typealias Randomness = StoreSimulation.Randomness

    let tables: [Table]
    let simulation: StoreSimulation

    /// A made edit, or one that was refused.
    struct Made {
        /// The edit, as SQL or as its name in the app.
        var text: String
        /// The table of an inserted row.
        var inserted: String?
        /// The refusal; nil if the edit was made.
        var refusal: String?
    }

    /// Edits at random, each with its seed and within a savepoint.
    ///
    /// A constraint or trigger undoes the edit that it refuses.
    func make(_ database: Database, _ seeds: [UInt64]) throws -> [Made] {
        var made: [Made] = []
        for seed in seeds {
            var random = Randomness(seed: seed)
            if !simulation.edits.isEmpty, random.chance(40) {
                let edit = random.one(of: simulation.edits)
                made.append(try attempt(database, edit.name) { try edit.body(database, &random) })
                continue
            }
            guard !tables.isEmpty else { continue }
            let table = random.one(of: tables)
            switch random.number(0..<100) {
            case ..<45: made += try insert(into: table, database, &random, depth: 0)
            case ..<88: made += try update(table, database, &random)
            default: made += try delete(from: table, database, &random)
            }
        }
        return made
    }

    private func attempt(
        _ database: Database,
        _ text: String,
        _ body: () throws -> Void
    ) throws -> Made {
        var made = Made(text: text)
        do {
            try database.inSavepoint {
                try body()
                return .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            made.refusal = error.message ?? "\(error.extendedResultCode)"
        }
        return made
    }

    private func run(
        _ database: Database,
        _ sql: String,
        _ values: [DatabaseValue]
    ) throws -> Made {
        var text = ""
        var left = values[...]
        for character in sql {
            if character == "?", let value = left.popFirst() {
                text +=
                    try String.fetchOne(database, sql: "SELECT quote(?)", arguments: [value]) ?? ""
            } else {
                text.append(character)
            }
        }
        return try attempt(database, text) {
            try database.execute(sql: sql, arguments: StatementArguments(values))
        }
    }

    // MARK: Rows

    /// Inserts a row, and the rows that it has to refer to where there are none.
    private func insert(
        into table: Table,
        _ database: Database,
        _ random: inout Randomness,
        depth: Int
    ) throws -> [Made] {
        var made: [Made] = []
        var values: [String: DatabaseValue] = [:]
        for key in table.foreignKeys {
            let isRequired = key.columns.contains { name in
                table.columns.contains { $0.name == name && $0.isRequired }
            }
            guard isRequired || random.chance(70) else { continue }
            var target = try row(of: key.target, key.targetColumns, database, &random)
            if target == nil, isRequired, depth < 8,
                let parent = tables.first(where: { $0.name == key.target })
            {
                made += try insert(into: parent, database, &random, depth: depth + 1)
                target = try row(of: key.target, key.targetColumns, database, &random)
            }
            guard let target else { continue }
            values.merge(zip(key.columns, target)) { first, _ in first }
        }
        let references = Set(table.foreignKeys.flatMap(\.columns))
        for column in table.columns where values[column.name] == nil {
            if references.contains(column.name), column.keyPlace == 0 {
                values[column.name] = .null
            } else if column.isRequired || random.chance(80) {
                values[column.name] = try value(column, of: table, database, &random)
            }
        }
        let columns = table.columns.map(\.name).filter { values[$0] != nil }
        var insertion = try run(
            database,
            """
            INSERT INTO \(table.name.quotedDatabaseIdentifier) \
            (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", "))) \
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
            """,
            columns.compactMap { values[$0] }
        )
        insertion.inserted = table.name
        return made + [insertion]
    }

    private func update(
        _ table: Table,
        _ database: Database,
        _ random: inout Randomness
    ) throws -> [Made] {
        guard let key = try row(of: table.name, table.key, database, &random) else { return [] }
        let references = Dictionary(
            table.foreignKeys.filter { $0.columns.count == 1 }.map { ($0.columns[0], $0) }
        ) { first, _ in first }
        let columns = table.columns.filter { $0.keyPlace == 0 }.shuffled(using: &random)
            .prefix(random.number(1..<3))
        guard !columns.isEmpty else { return [] }
        let values = try columns.map { column -> DatabaseValue in
            guard let reference = references[column.name] else {
                return try value(column, of: table, database, &random)
            }
            let isCleared = !column.isRequired && random.chance(25)
            let target =
                try isCleared
                ? nil : row(of: reference.target, reference.targetColumns, database, &random)
            return target?.first ?? .null
        }
        return [
            try run(
                database,
                """
                UPDATE \(table.name.quotedDatabaseIdentifier) \
                SET \(columns.map { $0.name.quotedDatabaseIdentifier + " = ?" }.joined(separator: ", ")) \
                WHERE \(Self.condition(table))
                """,
                values + key
            )
        ]
    }

    private func delete(
        from table: Table,
        _ database: Database,
        _ random: inout Randomness
    ) throws -> [Made] {
        guard let key = try row(of: table.name, table.key, database, &random) else { return [] }
        return [
            try run(
                database,
                "DELETE FROM \(table.name.quotedDatabaseIdentifier) WHERE \(Self.condition(table))",
                key
            )
        ]
    }

    private static func condition(_ table: Table) -> String {
        table.key.map { $0.quotedDatabaseIdentifier + " = ?" }.joined(separator: " AND ")
    }

    /// Returns some columns of a random row; nil if there is none.
    private func row(
        of table: String,
        _ columns: [String],
        _ database: Database,
        _ random: inout Randomness
    ) throws -> [DatabaseValue]? {
        let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT \(list) FROM \(table.quotedDatabaseIdentifier) ORDER BY \(list)"
        )
        guard !rows.isEmpty else { return nil }
        // Devices meet in a few rows, so that they change the same ones.
        let few = random.chance(60) ? Array(rows.prefix(3)) : rows
        return Array(random.one(of: few).databaseValues)
    }

    // MARK: Values

    private func value(
        _ column: Table.Column,
        of table: Table,
        _ database: Database,
        _ random: inout Randomness
    ) throws -> DatabaseValue {
        if let made = simulation.values["\(table.name).\(column.name)"] {
            return made(&random)?.databaseValue ?? .null
        }
        if column.keyPlace > 0 { return Self.key(column, &random) }
        if !column.isRequired, random.chance(15) { return .null }
        if !column.isUnique, random.chance(15),
            let known = try row(of: table.name, [column.name], database, &random)?.first,
            !(known.isNull && column.isRequired)
        {
            return known
        }
        return Self.value(column, &random)
    }

    /// Returns a new key, or sometimes one of a few that other devices choose too.
    private static func key(_ column: Table.Column, _ random: inout Randomness) -> DatabaseValue {
        let isShared = random.chance(10)
        switch column.form {
        case .integer:
            return Int64(isShared ? random.number(1..<6) : random.number(1..<1 << 53)).databaseValue
        case .bytes: return bytes(16, &random).databaseValue
        // As GRDB stores a UUID.
        case .uuid: return bytes(16, &random).databaseValue
        default:
            return (isShared ? "\(column.name)-\(random.number(1..<6))" : uuid(&random))
                .databaseValue
        }
    }

    private static func uuid(_ random: inout Randomness) -> String {
        NSUUID(uuidBytes: Array(bytes(16, &random))).uuidString
    }

    private static func value(_ column: Table.Column, _ random: inout Randomness) -> DatabaseValue {
        switch column.form {
        case .boolean: return random.number(0..<2).databaseValue
        case .integer:
            return random.one(of: [0, 1, random.number(2..<100), random.number(0..<1 << 60)])
                .databaseValue
        case .real, .secondsSince1970:
            return (Double(random.number(-1000..<1000)) / 4).databaseValue
        case .decimal: return "\(random.number(-1000..<1000)).25".databaseValue
        case .date:
            let day =
                "20\(random.number(10..<30))-\(random.number(10..<13))-\(random.number(10..<29))"
            let time = "\(random.number(10..<24)):\(random.number(10..<60)):00.000"
            return (column.isDay ? day : "\(day) \(time)").databaseValue
        case .bytes, .asset: return bytes(random.number(0..<40), &random).databaseValue
        case .uuid: return uuid(&random).databaseValue
        case .list:
            let elements = (0..<random.number(0..<4)).map { _ in "\"t\(random.number(0..<9))\"" }
            return "[\(elements.joined(separator: ","))]".databaseValue
        case .location:
            return
                "{\"latitude\":\(random.number(-90..<90)),\"longitude\":\(random.number(-180..<180))}"
                .databaseValue
        case .text:
            let word = random.one(of: [
                "", "tea", "Ünïcode ✓", "O'Neil", "two\nlines", "שלום", "0012",
            ])
            return column.isUnique || random.chance(60)
                ? "\(word) \(random.number(0..<1_000_000))".databaseValue : word.databaseValue
        }
    }

    private static func bytes(_ count: Int, _ random: inout Randomness) -> Data {
        Data((0..<count).map { _ in UInt8(random.number(0..<256)) })
    }
}
