import Foundation
import GRDB

/// The rows of a database, read and written by their keys.
struct RowStore {
    let database: Database
    let mapping: RowMapping

    /// Returns the row of a key; nil when there is none.
    func row(_ key: RowKey, _ table: TableSchema) throws -> StoredRow? {
        guard let values = key.values(table) else { return nil }
        let statement = try database.cachedStatement(sql: table.sql.select)
        return try StoredRow.fetchOne(
            statement,
            arguments: StatementArguments(values: values),
            table
        )
    }

    /// Returns the rows of some keys with few statements; nil if these cannot find them exactly.
    ///
    /// Rows with assets are read one at a time: together they may not fit in memory.
    func rows(_ keys: [RowKey], _ table: TableSchema) throws -> [RowKey: StoredRow]? {
        guard let column = table.keyColumns.first, table.keyColumns.count == 1,
            table.assetColumns.isEmpty
        else { return nil }
        let values = keys.compactMap { $0.values(table)?.first }
        guard values.count == keys.count else { return nil }
        let sql = table.sql.selectWhere + "\(column.name.quoted) IN (\(Portion.marks))"
        let statement = try database.cachedStatement(sql: sql)
        var rows: [RowKey: StoredRow] = [:]
        var count = 0
        for portion in Portion.of(values) {
            for row in try StoredRow.fetchAll(statement, arguments: portion, table) {
                guard let key = Self.key(row, table) else { return nil }
                rows[key] = row
                count += 1
            }
        }
        // A collation may find a row by another spelling of its key.
        return keys.count(where: { rows[$0] != nil }) == count ? rows : nil
    }

    /// Returns the values of fields that were never set, where these are the same for every row.
    func defaults(of table: TableSchema) throws -> [String: StoreValue] {
        var defaults: [String: StoreValue] = [:]
        for column in table.columns {
            guard let value = column.standard else { continue }
            defaults[column.field] = try mapping.value(value, column)
        }
        return defaults
    }

    /// Returns whether a field leaves the value of a row's column as it is.
    ///
    /// Where NULL is not allowed, the column's default takes its place, on every device: a row that has another value
    /// would differ from those that are inserted later.
    func keeps(_ field: StoreValue, _ column: TableColumn, of row: StoredRow) throws -> Bool {
        let value = row[column.name] ?? .null
        if try mapping.value(value, column) == field { return true }
        guard field.isNull, column.isNotNull else { return false }
        guard let standard = column.standard else { return true }
        return try mapping.value(standard, column) == mapping.value(value, column)
    }

    /// Writes fields into the row of a key, and returns the kind of change; nil when nothing differed.
    ///
    /// - Parameters:
    ///   - fields: The values by field; columns of other fields keep their value, or take their default.
    ///   - key: The row's key.
    ///   - table: The table.
    ///   - existing: The current row.
    ///   - files: The files of assets that came from the server, by field.
    /// - Returns: The kind of change.
    /// - Throws: ``UnmappableValue``, or SQLite's error about the values.
    func write(
        _ fields: [String: StoreValue],
        _ key: RowKey,
        _ table: TableSchema,
        over existing: StoredRow?,
        files: [String: URL]
    ) throws -> RowChange.Kind? {
        var columns: [String] = []
        var values: [DatabaseValue] = []
        for column in table.columns where !column.isKey {
            guard let field = fields[column.field] else { continue }
            if field.isNull, column.needsValue { throw UnmappableValue(column, found: "no value") }
            if let existing, try keeps(field, column, of: existing) { continue }
            if field.isNull, column.isNotNull {
                // A new row gets the default by itself.
                guard existing != nil, let standard = column.standard else { continue }
                columns.append(column.name)
                values.append(standard)
                continue
            }
            let value = try value(field, column, files)
            // An asset that is not downloaded is NULL before and after.
            if value.isNull, existing?[column.name]?.isNull == true { continue }
            columns.append(column.name)
            values.append(value)
        }
        guard existing == nil else {
            guard !columns.isEmpty else { return nil }
            let list = zip(columns, values).map { "\($0.quoted) = \($1.mark)" }
                .joined(separator: ", ")
            let statement = try database.cachedStatement(
                sql: "UPDATE \(table.name.quoted) SET \(list) WHERE \(table.sql.condition)"
            )
            try statement.execute(
                arguments: StatementArguments(
                    values: values.map(\.bound) + (key.values(table) ?? [])
                )
            )
            return .updated
        }
        if let missing = table.columns.first(where: {
            !$0.isKey && $0.needsValue && !columns.contains($0.name)
        }) {
            throw UnmappableValue(missing, found: "no value")
        }
        values += key.values(table) ?? []
        let statement = try database.cachedStatement(
            sql: RowSQL.insert(
                columns + table.keyColumns.map(\.name),
                marks: values.map(\.mark),
                into: table.name
            )
        )
        try statement.execute(arguments: StatementArguments(values: values.map(\.bound)))
        return .inserted
    }

    /// Inserts a row with values that ``RowMapping/insertion(of:_:_:)`` prepared.
    func insert(_ values: StatementArguments, _ table: TableSchema) throws {
        try database.cachedStatement(sql: table.sql.insert).execute(arguments: values)
    }

    /// Returns the rows that refer to one by a foreign key.
    func rows(
        referring foreignKey: ForeignKey,
        _ child: TableSchema,
        _ parent: StoredRow
    ) throws -> [StoredRow] {
        let values = foreignKey.parentColumns.map { parent[$0] ?? .null }
        return try rows(child, where: foreignKey.columns, are: values)
    }

    /// Returns the keys of the rows directly below a row in its tree.
    func keys(below key: RowKey) throws -> [RowKey] {
        guard let table = mapping.catalog[key.table], let row = try row(key, table) else {
            return []
        }
        var keys: [RowKey] = []
        for (name, foreignKey) in mapping.catalog.foreignKeys(to: table.name) {
            guard let child = mapping.catalog[name],
                foreignKey.columns == [child.parentColumn?.name]
            else { continue }
            keys += try rows(referring: foreignKey, child, row)
                .compactMap { Self.key($0, child) }
        }
        return keys
    }

    /// Returns the rows that have the given values in some columns.
    func rows(
        _ table: TableSchema,
        where columns: [String],
        are values: [DatabaseValue]
    ) throws -> [StoredRow] {
        let condition = zip(columns, values).map { "\($0.quoted) = \($1.mark)" }
            .joined(separator: " AND ")
        return try StoredRow.fetchAll(
            database.cachedStatement(sql: table.sql.selectWhere + condition),
            arguments: StatementArguments(values: values.map(\.bound)),
            table
        )
    }

    /// Returns the columns of each UNIQUE constraint and index, except the key.
    func uniqueColumns(_ table: TableSchema) throws -> [[TableColumn]] {
        let indexes = try Row.fetchAll(
            database,
            sql: "PRAGMA index_list(\(table.name.quoted))"
        )
        return try indexes.compactMap { index in
            // A partial index allows equal values in other rows.
            guard index["unique"] as Bool, !(index["partial"] as Bool),
                index["origin"] as String != "pk"
            else { return nil }
            let names = try Row.fetchAll(
                database,
                sql: "PRAGMA index_info(\((index["name"] as String).quoted))"
            ).map { $0["name"] as String? }
            let columns = names.compactMap { $0.flatMap(table.column) }
            return columns.count == names.count ? columns : nil
        }
    }

    /// Returns the names of the columns on which a UNIQUE constraint or index depends, except the key's.
    ///
    /// A column of which an index only names the word, such as in an expression, counts too.
    func uniqueNames(_ table: TableSchema) throws -> Set<String> {
        let statement = try database.cachedStatement(
            sql: """
                SELECT i.name, t.name, m.sql
                FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS t
                LEFT JOIN sqlite_master AS m ON m.type = 'index' AND m.name = i.name
                WHERE i."unique" AND i.origin <> 'pk'
                """
        )
        var names: Set<String> = []
        for row in try Row.fetchAll(statement, arguments: [table.name]) {
            if let name: String = row[1] { names.insert(name) }
            guard let sql: String = row[2] else { continue }
            let words = Set(SQLToken.tokens(sql).map { $0.name.lowercased() })
            names.formUnion(table.columns.map(\.name).filter { words.contains($0.lowercased()) })
        }
        return names
    }

    func delete(_ key: RowKey, _ table: TableSchema) throws {
        let statement = try database.cachedStatement(sql: table.sql.delete)
        try statement.execute(arguments: StatementArguments(values: key.values(table) ?? []))
    }

    /// Returns the value of a field; an asset's bytes come from its file, or are downloaded later.
    private func value(
        _ field: StoreValue,
        _ column: TableColumn,
        _ files: [String: URL]
    ) throws -> DatabaseValue {
        guard column.form == .asset, case .asset = field.plain else {
            return try mapping.databaseValue(field, column)
        }
        guard column.download == .withRow, let file = files[column.field] else { return .null }
        return Self.asset(try Data(contentsOf: file), field)
    }

    /// Returns an asset's bytes as its column stores them.
    static func asset(_ data: Data, _ field: StoreValue) -> DatabaseValue {
        if case .written = field { DatabaseValue.text(data) } else { data.databaseValue }
    }

    /// Returns the key of a row that has the key's columns.
    static func key(_ row: StoredRow, _ table: TableSchema) -> RowKey? {
        RowKey(values: table.keyColumns.map { row[$0.name] ?? .null }, table)
    }
}
