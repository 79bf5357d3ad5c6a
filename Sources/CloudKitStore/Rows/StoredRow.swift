import Foundation
import GRDB

/// A row's synced columns, in the order of their table, with SQLite's values.
///
/// A GRDB row truncates text at its first NUL, and repairs invalid UTF-8; this type keeps all
/// bytes, see ``GRDB/DatabaseValue/text(_:)``.
struct StoredRow {
    private let table: TableSchema
    let values: [DatabaseValue]

    /// Creates a row from a cursor's current row.
    init(_ row: Row, _ table: TableSchema) throws {
        self.table = table
        var values: [DatabaseValue] = []
        values.reserveCapacity(table.columns.count)
        for place in table.columns.indices {
            let value: DatabaseValue = row[place]
            values.append(try Self.whole(value, row, place))
        }
        self.values = values
    }

    private static func whole(
        _ value: DatabaseValue,
        _ row: Row,
        _ place: Int
    ) throws
        -> DatabaseValue
    {
        guard case .string(let text) = value.storage else { return value }
        return try row.withUnsafeData(atIndex: place) { data in
            guard let data else { return value }
            let isWhole = text.utf8.withContiguousStorageIfAvailable { text in
                data.withUnsafeBytes { UnsafeRawBufferPointer(text).elementsMatch($0) }
            }
            return isWhole == true ? value : DatabaseValue.text(Data(data))
        }
    }

    /// The value of a column; nil for one that is not synced.
    subscript(name: String) -> DatabaseValue? {
        table.place(of: name).map { values[$0] }
    }

    /// Returns all rows of a statement.
    static func fetchAll(
        _ statement: Statement,
        arguments: StatementArguments,
        _ table: TableSchema
    ) throws -> [StoredRow] {
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var found: [StoredRow] = []
        while let row = try rows.next() { found.append(try StoredRow(row, table)) }
        return found
    }

    /// Returns the first row of a statement.
    static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments,
        _ table: TableSchema
    ) throws -> StoredRow? {
        // A cursor's row loses its values when the cursor ends.
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        return try withExtendedLifetime(rows) {
            try rows.next().map { try StoredRow($0, table) }
        }
    }
}
