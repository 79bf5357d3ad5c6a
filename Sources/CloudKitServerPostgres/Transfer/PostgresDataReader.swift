#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The rows of a database inside of a transaction with one snapshot.
final class PostgresDataReader: DataReader {
    private let connection: PostgresConnection
    /// The number of cursors so far.
    private var cursors = 0

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    func rows(of table: DataTable, after key: [DataValue]?) throws -> any DataCursor {
        let columns = table.columns.map(\.name).joined(separator: ", ")
        let order = table.order.map { table.columns[$0].name }.joined(separator: ", ")
        var condition = Self.condition(of: table)
        if key != nil {
            let marks = table.orderKinds.enumerated().map { place, kind in
                "$\(place + 1)::\(kind == .integer ? "bigint" : "bytea")"
            }
            condition += " AND (\(order)) > (\(marks.joined(separator: ", ")))"
        }
        cursors += 1
        let name = "rows\(cursors)"
        try connection.run([
            Statement(
                sql: """
                    DECLARE \(name) NO SCROLL CURSOR FOR
                    SELECT \(columns) FROM \(table.name) WHERE \(condition) ORDER BY \(order)
                    """,
                parameters: (key ?? []).map(\.parameter),
                isPrepared: false
            )
        ])
        return PostgresDataCursor(table, name, connection)
    }

    func rowCount(of table: DataTable) throws -> Int {
        let condition = Self.condition(of: table)
        let counts = try all("SELECT count(*) FROM \(table.name) WHERE \(condition)") { $0.int(0) }
        return counts.first.map(Int.init) ?? 0
    }

    /// The condition for rows that belong to the data.
    private static func condition(of table: DataTable) -> String {
        guard table.name == "setting" else { return "true" }
        return "name NOT IN (\(CopyState.ownSettingsList))"
    }

    func assets(after checksum: Data, limit: Int) throws -> [Data] {
        try all(
            """
            SELECT DISTINCT checksum FROM (
                SELECT checksum FROM asset WHERE checksum > $1
                UNION ALL SELECT checksum FROM kept_asset WHERE checksum > $1
            ) AS held ORDER BY checksum LIMIT $2
            """,
            [.bytes(checksum), .int(Int64(limit))]
        ) { $0.bytes(0) }
    }

    func counters() throws -> DataCounters {
        let rows = try all("SELECT last_value, is_called FROM row_block") { row in
            // A block belongs to a node from its first number on.
            row.bool(1) ? row.int(0) + RowNumbers.block - 1 : row.int(0) - 1
        }
        let pushes = try all("SELECT last_value, is_called FROM push_number") { row in
            row.bool(1) ? row.int(0) : row.int(0) - 1
        }
        return DataCounters(row: rows.first ?? 0, push: pushes.first ?? 0)
    }

    func copyState() throws -> Data? {
        try all(
            "SELECT value FROM setting WHERE name = $1",
            [.text(CopyState.setting)]
        ) { $0.bytes(0) }.first
    }

    private func all<Value>(
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ make: @escaping (ResultRow) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try connection.run([
            Statement(sql: sql, parameters: parameters, isPrepared: false) { rows in
                for row in rows { values.append(try make(row)) }
            }
        ])
        return values
    }
}

/// The rows of a cursor of the server, some at a time.
private final class PostgresDataCursor: DataCursor {
    private let table: DataTable
    private let fetch: String
    private let connection: PostgresConnection
    private var rows: [[DataValue]] = []
    private var place = 0
    private var isAtEnd = false

    init(_ table: DataTable, _ name: String, _ connection: PostgresConnection) {
        self.table = table
        self.connection = connection
        // Rows with contents may have a megabyte each.
        let isWide = table.columns.contains {
            ["fields", "body", "value", "schema"].contains($0.name)
        }
        fetch = "FETCH \(isWide ? 64 : 1000) FROM \(name)"
    }

    func next() throws -> [DataValue]? {
        if place == rows.count {
            if !isAtEnd { try fetchRows() }
            guard !rows.isEmpty else { return nil }
        }
        defer { place += 1 }
        return rows[place]
    }

    private func fetchRows() throws {
        rows = []
        place = 0
        try connection.run([
            Statement(sql: fetch, isPrepared: false) { [self] found in
                for row in found { rows.append(values(row)) }
            }
        ])
        isAtEnd = rows.isEmpty
    }

    private func values(_ row: ResultRow) -> [DataValue] {
        table.columns.enumerated().map { place, column in
            let place = Int32(place)
            guard !row.isNull(place) else { return .null }
            return switch column.kind {
            case .integer: .integer(row.int(place))
            case .flag: .integer(row.bool(place) ? 1 : 0)
            case .text, .bytes: .bytes(row.bytes(place))
            }
        }
    }
}

extension DataValue {
    /// The number; nil for another value.
    var number: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// The bytes; nil for another value.
    var data: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The value for a statement's place.
    fileprivate var parameter: Parameter {
        switch self {
        case .null: .bytes(nil)
        case .integer(let number): .int(number)
        case .bytes(let bytes): .bytes(bytes)
        }
    }
}
#endif
