import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rows of a database inside of a transaction.
struct SQLiteDataReader: DataReader {
    private let database: Database
    private let connection: SQLiteConnection

    /// Prepares to read: zones with their contents are put into the order of all engines.
    init(_ database: Database) throws {
        self.database = database
        connection = SQLiteConnection(database)
        try database.execute(
            sql: """
                CREATE TEMP TABLE place (
                    snapshot INTEGER NOT NULL,
                    database INTEGER NOT NULL,
                    zone INTEGER NOT NULL,
                    content INTEGER NOT NULL,
                    PRIMARY KEY (snapshot, database, zone)
                ) WITHOUT ROWID;
                CREATE INDEX placeByContent ON place (content, snapshot);
                INSERT INTO place SELECT 0, database, id, content FROM zone;
                """
        )
        for snapshot in try snapshots() {
            try database.execute(
                sql: """
                    INSERT INTO place SELECT \(snapshot), database, id, content
                    FROM snapshot\(snapshot)zone
                    """
            )
        }
    }

    private func snapshots() throws -> [Int64] {
        try Int64.fetchAll(database, sql: "SELECT id FROM snapshot ORDER BY id")
    }

    func rows(of table: DataTable, after key: [DataValue]?) throws -> any DataCursor {
        guard table.original != nil else {
            return SQLiteDataCursor(table, [try query(table, snapshot: nil, after: key)], database)
        }
        var first: Int64 = .min
        if case .integer(let snapshot)? = key?.first { first = snapshot }
        let queries = try snapshots().filter { $0 >= first }.map { snapshot in
            try query(table, snapshot: snapshot, after: snapshot == first ? key : nil)
        }
        return SQLiteDataCursor(table, queries, database)
    }

    func rowCount(of table: DataTable) throws -> Int {
        var numbers: [Int64?] = [nil]
        if table.original != nil { numbers = try snapshots() }
        var count = 0
        for snapshot in numbers {
            for part in try sources(SQLiteDataTable(table: table), snapshot: snapshot) {
                count += try Int.fetchOne(database, sql: "SELECT count(*) FROM \(part)") ?? 0
            }
        }
        return count
    }

    func assets(after checksum: Data, limit: Int) throws -> [Data] {
        var parts = ["SELECT checksum FROM asset WHERE checksum > CAST(?1 AS BLOB)"]
        for table in try connection.snapshotTables(of: "asset") {
            parts.append(
                "SELECT checksum FROM \(table) WHERE checksum > CAST(?1 AS BLOB) AND wasThere"
            )
        }
        return try Data.fetchAll(
            database,
            sql: parts.joined(separator: " UNION ") + " ORDER BY 1 LIMIT ?2",
            arguments: [DataValue.bytes(checksum).argument, limit]
        )
    }

    func counters() throws -> DataCounters {
        var numbers = ["SELECT seq AS number FROM sqlite_sequence WHERE name <> 'push'"]
        let tables = ["environment", "user", "database", "record"]
        for table in tables + (try connection.snapshotTables(of: "record")) {
            numbers.append("SELECT max(id) FROM \(table)")
        }
        let all = numbers.joined(separator: " UNION ALL ")
        return DataCounters(
            row: try Int64.fetchOne(database, sql: "SELECT max(number) FROM (\(all))") ?? 0,
            push: try Int64.fetchOne(
                database,
                sql: "SELECT seq FROM sqlite_sequence WHERE name = 'push'"
            ) ?? 0
        )
    }

    func copyState() throws -> Data? { try connection.setting(CopyState.setting) }

    // MARK: SQL

    /// A query with its values.
    struct Query {
        var sql: String
        var arguments: [DataValue]
    }

    private func query(
        _ table: DataTable,
        snapshot: Int64?,
        after key: [DataValue]?
    ) throws -> Query {
        let form = SQLiteDataTable(table: table)
        let sources = try sources(form, snapshot: snapshot)
        let values = try expressions(form, snapshot: snapshot)
        // A part of a union orders bytes; a table alone orders its text, by an index.
        let isUnion = sources.count > 1
        let selected = zip(table.columns, values).enumerated().map { place, part in
            let value = part.0.kind == .text ? "CAST(\(part.1) AS BLOB)" : part.1
            return "\(value) AS c\(place)"
        }
        let columns = selected.joined(separator: ", ")
        var parts = sources.map { "SELECT \(columns) FROM \($0)" }
        let order = table.order.map { isUnion ? "c\($0)" : values[$0] }
        let marks = table.order.map { place in
            isUnion && table.columns[place].kind == .text
                ? "CAST(? AS BLOB)" : table.columns[place].mark
        }
        if isUnion { parts = ["SELECT * FROM (\(parts.joined(separator: " UNION ALL "))) WHERE 1"] }
        var sql = parts[0]
        var arguments: [DataValue] = []
        if let key {
            // The first numbers alone can be looked up, where the others belong to another table.
            let numbers = table.orderKinds.prefix { $0 == .integer }.count
            if form.isContent, snapshot == nil, numbers >= 2 {
                sql += " AND (\(order[0]), \(order[1])) >= (?, ?)"
                arguments += key.prefix(2)
            }
            sql += " AND (\(order.joined(separator: ", "))) > (\(marks.joined(separator: ", ")))"
            arguments += key
        }
        return Query(
            sql: sql + " ORDER BY " + order.joined(separator: ", "),
            arguments: arguments
        )
    }

    /// Returns the expression of each column's values.
    private func expressions(_ form: SQLiteDataTable, snapshot: Int64?) throws -> [String] {
        var known: Set<String>?
        var defaults: [String: String] = [:]
        if let snapshot {
            // A snapshot that is older than a column has no values for it.
            known = Set(try connection.columns(of: "snapshot\(snapshot)\(form.name)"))
            for column in try database.columns(in: form.name) {
                defaults[column.name] = column.defaultValueSQL
            }
        }
        return form.table.columns.map { column in
            // Not a number alone, which would be that of a column to order by.
            if column.name == "snapshot", let snapshot { return "(0 + \(snapshot))" }
            if form.isContent, column.name == "database" || column.name == "zone" {
                return "place.\(column.name)"
            }
            let name = SQLiteDataTable.name(of: column)
            guard known?.contains(name) ?? true else { return defaults[name] ?? "NULL" }
            return "t.\(name.quoted)"
        }
    }

    /// Returns the tables that have the rows, with a condition; rows that a snapshot shares with now are
    /// in one place, and those that were changed since in another.
    private func sources(_ form: SQLiteDataTable, snapshot: Int64?) throws -> [String] {
        let name = form.name
        guard form.isContent else {
            let own = "\(snapshot.map { "snapshot\($0)" } ?? "")\(name)"
            let condition = name == "setting" ? "name NOT IN (\(CopyState.ownSettingsList))" : "1"
            return ["\(own) AS t WHERE \(condition)"]
        }
        let number = snapshot ?? 0
        let shared =
            name == "asset"
            ? """
            asset AS t JOIN record AS holder ON holder.id = t.record
            JOIN place ON place.content = holder.zone WHERE place.snapshot = \(number)
            """
            : """
            place CROSS JOIN \(name) AS t ON t.zone = place.content WHERE place.snapshot = \(number)
            """
        guard let snapshot else { return [shared] }
        let kept = "snapshot\(snapshot)\(name)"
        let key = connection.key(ofKept: name)
        let isSame = key.map { "other.\($0.quoted) = t.\($0.quoted)" }.joined(separator: " AND ")
        let content =
            name == "asset"
            ? """
            coalesce(
                (SELECT zone FROM snapshot\(snapshot)record WHERE id = t.record AND wasThere),
                (SELECT zone FROM record WHERE id = t.record)
            )
            """ : "t.zone"
        return [
            "\(shared) AND NOT EXISTS (SELECT 1 FROM \(kept) AS other WHERE \(isSame))",
            """
            \(kept) AS t JOIN place ON place.snapshot = \(snapshot) AND place.content = \(content)
            WHERE t.wasThere
            """,
        ]
    }
}

/// The rows of queries, one after another.
private final class SQLiteDataCursor: DataCursor {
    private let table: DataTable
    private let database: Database
    private var queries: ArraySlice<SQLiteDataReader.Query>
    private var rows: RowCursor?

    init(_ table: DataTable, _ queries: [SQLiteDataReader.Query], _ database: Database) {
        self.table = table
        self.database = database
        self.queries = queries[...]
    }

    func next() throws -> [DataValue]? {
        while true {
            if let row = try rows?.next() { return try values(row) }
            guard let query = queries.popFirst() else { return nil }
            rows = try Row.fetchCursor(
                database,
                sql: query.sql,
                arguments: StatementArguments(query.arguments.map(\.argument))
            )
        }
    }

    private func values(_ row: Row) throws -> [DataValue] {
        var values: [DataValue] = []
        values.reserveCapacity(table.columns.count)
        for (place, column) in table.columns.enumerated() {
            let value: DatabaseValue = row[place]
            switch (value.storage, column.kind) {
            case (.null, _): values.append(.null)
            case (.int64(let number), .integer), (.int64(let number), .flag):
                values.append(.integer(number))
            case (.blob(let bytes), .text), (.blob(let bytes), .bytes):
                values.append(.bytes(bytes))
            default:
                throw StorageError(
                    .corrupt,
                    "Table \(table.name): a row has a \(column.name) of another kind; run cloudkit check"
                )
            }
        }
        return values
    }
}
