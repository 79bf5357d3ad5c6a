import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The writes of a copy inside of a transaction.
///
/// A zone and the zones of snapshots that are the same one share the content that has the zone's number.
struct SQLiteDataWriter: DataWriter {
    private let database: Database
    private let connection: SQLiteConnection

    init(_ database: Database) {
        self.database = database
        connection = SQLiteConnection(database)
    }

    func add(_ rows: [[DataValue]], to table: DataTable) throws {
        guard table.original != nil else {
            return try add(rows[...], to: table, prefix: "", from: 0)
        }
        var rest = rows[...]
        while let first = rest.first, case .integer(let snapshot) = first[0] {
            let part = rest.prefix { $0[0] == first[0] }
            try add(part, to: table, prefix: "snapshot\(snapshot)", from: 1)
            rest = rest.dropFirst(part.count)
        }
    }

    /// Adds rows to one of SQLite's tables.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - table: Their table.
    ///   - prefix: What precedes the name of SQLite's table.
    ///   - start: The place of the first value that this has.
    /// - Throws: An error of SQLite.
    private func add(
        _ rows: ArraySlice<[DataValue]>,
        to table: DataTable,
        prefix: String,
        from start: Int
    ) throws {
        let form = SQLiteDataTable(table: table)
        let places = table.columns.indices.filter { place in
            place >= start && !(form.isContent && table.columns[place].name == "database")
        }
        var names = places.map { SQLiteDataTable.name(of: table.columns[$0]) }
        var marks = places.map { table.columns[$0].mark }
        if form.isZone { names.append("content") }
        if form.isContent, start > 0 { names.append("wasThere") }
        marks += Array(repeating: "?", count: names.count - marks.count)
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO \(prefix)\(form.name) (\(names.map(\.quoted).joined(separator: ", ")))
                VALUES (\(marks.joined(separator: ", ")))
                """
        )
        let zone = table.columns.firstIndex { $0.name == "id" } ?? 0
        for row in rows {
            var values = places.map { row[$0].argument }
            if form.isZone {
                let id = row[zone].argument
                try connection.run("INSERT OR IGNORE INTO content (id) VALUES (?)", [id])
                values.append(id)
            }
            if form.isContent, start > 0 { values.append(1) }
            statement.setUncheckedArguments(StatementArguments(values))
            try statement.execute()
            if table.name == "snapshot", case .integer(let id) = row[zone] {
                try connection.makeSnapshotTables(id)
            }
        }
    }

    func replaceCopyState(_ old: Data?, with new: Data?) throws {
        guard try connection.setting(CopyState.setting) == old else { throw CopyState.otherCopy }
        if let new {
            try connection.setSetting(CopyState.setting, new)
        } else {
            try connection.run("DELETE FROM setting WHERE name = ?", [CopyState.setting])
        }
    }

    func finishRows(_ counters: DataCounters) throws {
        for (place, row) in try connection.rows("SELECT id FROM snapshot ORDER BY id").enumerated()
        {
            guard let snapshot = Int64.fromDatabaseValue(row[0]) else { continue }
            try connection.keepDifferences(of: snapshot)
            try connection.beginToKeep(by: snapshot, number: counters.row + 1 + Int64(place))
        }
        for (table, number) in [
            ("zone", counters.row), ("content", counters.row), ("snapshot", counters.row),
            ("push", counters.push),
        ] {
            try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", [table])
            try connection.run(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
                [table, number]
            )
        }
    }
}
