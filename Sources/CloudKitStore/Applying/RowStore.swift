import Foundation
import GRDB

/// Reads and writes rows by their keys.
struct RowStore {
    let database: Database
    let mapping: RowMapping

    /// The row of a key, as its columns; nil when there is none.
    func row(_ key: RowKey, _ table: TableSchema) throws -> Row? {
        guard let values = key.values(table) else { return nil }
        let statement = try database.cachedStatement(
            sql: "SELECT \(Self.list(table.columns)) FROM \(table.name.quoted) WHERE "
                + Self.condition(table)
        )
        return try Row.fetchOne(statement, arguments: StatementArguments(values))
    }

    func exists(_ key: RowKey, _ table: TableSchema) throws -> Bool {
        guard let values = key.values(table) else { return false }
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM \(table.name.quoted) WHERE \(Self.condition(table))"
        )
        return try Row.fetchOne(statement, arguments: StatementArguments(values)) != nil
    }

    /// Writes fields into the row of a key, and says what that was; nil when nothing differed.
    ///
    /// - Parameters:
    ///   - fields: The values by field; columns whose field is not among them stay, or take their
    ///     default.
    ///   - key: The row's key.
    ///   - table: The table.
    ///   - existing: The row as it is.
    ///   - files: The files of assets that came from the server, by field.
    /// - Returns: What was done.
    /// - Throws: ``UnmappableValue``, or what SQLite says against the values.
    func write(
        _ fields: [String: StoreValue],
        _ key: RowKey,
        _ table: TableSchema,
        over existing: Row?,
        files: [String: URL]
    ) throws -> RowChange.Kind? {
        var columns: [String] = []
        var values: [DatabaseValue] = []
        for column in table.columns where !column.isKey {
            guard let field = fields[column.field] else { continue }
            let old = try existing.map { try mapping.value($0[column.name], column) }
            if field == old { continue }
            if field.isNull, column.isNotNull {
                if column.needsValue { throw UnmappableValue(column, found: "no value") }
                continue
            }
            let value = try value(field, column, files)
            // An asset that is not downloaded is NULL before and after.
            if value.isNull, old?.isNull == true { continue }
            columns.append(column.name)
            values.append(value)
        }
        guard existing == nil else {
            guard !columns.isEmpty else { return nil }
            let list = columns.map { "\($0.quoted) = ?" }.joined(separator: ", ")
            let statement = try database.cachedStatement(
                sql: "UPDATE \(table.name.quoted) SET \(list) WHERE \(Self.condition(table))"
            )
            try statement.execute(arguments: StatementArguments(values + (key.values(table) ?? [])))
            return .updated
        }
        if let missing = table.columns.first(where: {
            !$0.isKey && $0.needsValue && !columns.contains($0.name)
        }) {
            throw UnmappableValue(missing, found: "no value")
        }
        columns += table.keyColumns.map(\.name)
        values += key.values(table) ?? []
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let statement = try database.cachedStatement(
            sql: "INSERT INTO \(table.name.quoted) "
                + "(\(columns.map(\.quoted).joined(separator: ", "))) VALUES (\(marks))"
        )
        try statement.execute(arguments: StatementArguments(values))
        return .inserted
    }

    /// The rows that refer to one by a foreign key.
    func rows(
        referring foreignKey: ForeignKey,
        _ child: TableSchema,
        _ parent: Row
    ) throws -> [Row] {
        let condition = foreignKey.columns.map { "\($0.quoted) = ?" }.joined(separator: " AND ")
        let values = foreignKey.parentColumns.map { (parent[$0] as DatabaseValue?) ?? .null }
        return try Row.fetchAll(
            database,
            sql: "SELECT \(Self.list(child.columns)) FROM \(child.name.quoted) "
                + "WHERE \(condition)",
            arguments: StatementArguments(values)
        )
    }

    func delete(_ key: RowKey, _ table: TableSchema) throws {
        let statement = try database.cachedStatement(
            sql: "DELETE FROM \(table.name.quoted) WHERE \(Self.condition(table))"
        )
        try statement.execute(arguments: StatementArguments(key.values(table) ?? []))
    }

    /// An asset's bytes are its file's, or come later.
    private func value(
        _ field: StoreValue,
        _ column: TableColumn,
        _ files: [String: URL]
    ) throws -> DatabaseValue {
        guard column.form == .asset, !field.isNull else {
            return try mapping.databaseValue(field, column)
        }
        guard column.download == .withRow, let file = files[column.field] else { return .null }
        return try Data(contentsOf: file).databaseValue
    }

    static func condition(_ table: TableSchema) -> String {
        table.keyColumns.map { "\($0.name.quoted) = ?" }.joined(separator: " AND ")
    }

    static func list(_ columns: [TableColumn]) -> String {
        columns.map(\.name.quoted).joined(separator: ", ")
    }

    /// The key of a row that has the key's columns.
    static func key(_ row: Row, _ table: TableSchema) -> RowKey? {
        let components = table.keyColumns.map { column -> String in
            let value: DatabaseValue = row[column.name]
            return switch value.storage {
            case .int64(let number): String(number)
            case .string(let text): text
            case .blob(let data): Hexadecimal.text(data)
            default: ""
            }
        }
        return RowKey(components: components, table)
    }
}
