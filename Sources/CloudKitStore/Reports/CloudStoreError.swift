/// An error in the tables, the file or a call, with the remedy.
///
/// ```swift
/// do {
///     try await store.start()
/// } catch let error as CloudStoreError where error.code == .unreadableFile {
///     print(error.message)
/// }
/// ```
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
        /// The store cannot derive a column's content from its type.
        case unmappableColumn
        /// A foreign key refers to a table that is not synced.
        case unsyncedReference
        /// A name is not valid for a record type or field.
        case invalidName
        /// Two tables or columns share a name on the server.
        case duplicateName
        /// The file's control tables are of a newer version, or damaged.
        case unreadableFile
        /// The store has to be started first.
        case notStarted
        /// The row does not exist.
        case noSuchRow
        /// Another row has a UNIQUE value that the call would give to a row.
        case valueTaken
        /// Another row refers to the one that the call would delete.
        case stillReferred
        /// The row has not been sent yet.
        case neverSent
        /// The row is not shared in the way that the call requires.
        case notShared
        /// Participants would not have all rows below the row to be shared.
        case incompleteShare
        /// The value has no field representation, or the field's value does not fit the column.
        case unmappableValue
        /// The store waits for the app's decision.
        case blocked
        /// A change could not be sent and waits; the status has the reason.
        case unsettled
    }

    /// The kind of problem.
    public var code: Code
    /// The expectation, the finding with its place, and the remedy.
    public var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
