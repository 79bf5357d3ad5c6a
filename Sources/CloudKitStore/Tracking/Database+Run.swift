import GRDB

extension Database {
    /// Runs a statement that is run often: it is compiled once.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
