import Foundation
import GRDB

/// A row's synced columns, in the order of their table, as SQLite has them.
///
/// A row of GRDB's has no text beyond its first NUL, and repairs what is no UTF-8; this one has all
/// bytes, see ``GRDB/DatabaseValue/text(_:)``.
struct StoredRow {
    private let table: TableSchema
    let values: [DatabaseValue]

    /// The row that a cursor is at.
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

    /// All rows of a statement.
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

    /// The first row of a statement.
    static func fetchOne(
        _ statement: Statement,
        arguments: StatementArguments,
        _ table: TableSchema
    ) throws -> StoredRow? {
        // A cursor that ends takes its row's values with it.
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        return try withExtendedLifetime(rows) {
            try rows.next().map { try StoredRow($0, table) }
        }
    }
}
