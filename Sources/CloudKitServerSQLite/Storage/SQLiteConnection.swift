import CloudKitServerCore
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The storage on one connection inside a transaction.
struct SQLiteConnection {
    private let database: Database
    let directory: DirectoryCache

    init(_ database: Database, _ directory: DirectoryCache = DirectoryCache()) {
        self.database = database
        self.directory = directory
    }

    /// A value for a statement's question mark.
    typealias Argument = (any DatabaseValueConvertible)?

    /// The target of a statement's writes.
    enum Target {
        /// Any table.
        case any
        /// Only rows that ``DirectoryCache`` does not hold.
        case contents
    }

    /// Runs a statement.
    func run(_ sql: String, _ arguments: [Argument] = [], to target: Target = .any) throws {
        if target == .any { directory.empty() }
        try statement(sql, arguments).execute()
    }

    /// Returns a statement that is prepared once for each connection, with its values.
    private func statement(_ sql: String, _ arguments: [Argument]) throws -> Statement {
        let statement = try database.cachedStatement(sql: sql)
        // The arguments are this code's own; checking them would take time in every statement.
        statement.setUncheckedArguments(StatementArguments(arguments))
        return statement
    }

    /// Runs a statement that is not kept prepared.
    func runOnce(_ sql: String, _ arguments: [Argument] = []) throws {
        directory.empty()
        try database.execute(sql: sql, arguments: StatementArguments(arguments))
    }

    /// Returns the names of a table's columns.
    func columns(of table: String) throws -> [String] {
        try database.columns(in: table).map(\.name)
    }

    /// Returns the rows of a query that is not kept prepared.
    func rows(_ sql: String) throws -> [[DatabaseValue]] {
        try Row.fetchAll(database, sql: sql).map { Array($0.databaseValues) }
    }

    /// The number of rows that the last statement changed.
    var changes: Int { database.changesCount }

    /// Runs a statement that adds a row; returns the row's number.
    func insert(
        _ sql: String,
        _ arguments: [Argument],
        to target: Target = .any
    ) throws -> Int64 {
        try run(sql, arguments, to: target)
        return database.lastInsertedRowID
    }

    /// Returns the rows of a query, each converted to a value.
    func all<Value>(
        _ sql: String,
        _ arguments: [Argument] = [],
        _ make: (Row) throws -> Value
    ) throws -> [Value] {
        let rows = try Row.fetchCursor(try statement(sql, arguments))
        var values: [Value] = []
        while let row = try rows.next() { values.append(try make(row)) }
        return values
    }

    /// Calls a closure for the rows of a query, until it returns `false`.
    func visit(
        _ sql: String,
        _ arguments: [Argument],
        _ body: (Row) throws -> Bool
    ) throws {
        let rows = try Row.fetchCursor(try statement(sql, arguments))
        while let row = try rows.next(), try body(row) {}
    }

    /// Calls a closure for each row of a query, which may have more rows than fit into memory.
    func forEach(
        _ sql: String,
        _ arguments: [Argument] = [],
        _ body: (Row) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: sql,
            arguments: StatementArguments(arguments)
        )
        while let row = try rows.next() { try body(row) }
    }

    /// Returns the first row of a query, converted to a value.
    func first<Value>(
        _ sql: String,
        _ arguments: [Argument] = [],
        _ make: (Row) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(try statement(sql, arguments))
        return try rows.next().map(make)
    }
}
