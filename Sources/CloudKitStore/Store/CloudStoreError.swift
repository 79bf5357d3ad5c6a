/// What is wrong with the tables, the file or a call, and what to do about it.
public struct CloudStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of problems.
    public enum Code: String, Hashable, Sendable {
        /// The database has no such table.
        case noSuchTable
        /// The table's key cannot name its rows on other devices.
        case unusableKey
        /// A declaration names a column that the table does not have.
        case noSuchColumn
        /// A declaration names a trigger that the table does not have.
        case noSuchTrigger
        /// The store cannot tell what a column holds.
        case unmappableColumn
        /// A foreign key leads to a table that is not synced.
        case unsyncedReference
        /// A name cannot be one of a record type or field.
        case invalidName
        /// Two tables or columns share a name on the server.
        case duplicateName
        /// The file's control tables are of a newer version, or broken.
        case unreadableFile
        /// The store has to be started first.
        case notStarted
        /// There is no such row.
        case noSuchRow
        /// The row has not been sent yet.
        case neverSent
        /// The row is not shared in the way that a call needs.
        case notShared
        /// Participants would not have all rows below a row that is to be shared.
        case incompleteShare
        /// The value cannot be a field, or a field cannot be the column's value.
        case unmappableValue
        /// The store waits for a decision of the app.
        case blocked
        /// Something could not be sent and waits, with its reason, in the status.
        case unsettled
    }

    /// The kind of problem.
    public var code: Code
    /// What was expected and found, where, and the remedy.
    public var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
