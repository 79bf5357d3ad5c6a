public import Foundation

/// A store that cannot be read, or cannot become a database.
public struct CoreDataStoreError: Error, Hashable, Sendable, CustomStringConvertible,
    LocalizedError
{
    /// What kind of problem it is.
    public enum Code: String, Hashable, Sendable {
        /// The file is missing, is no store, or is damaged.
        case unreadable
        /// The model is not the one that the store was made with.
        case differentModel
        /// A row holds what no row of its entity has.
        case invalidRow
        /// The file of a value that is kept outside of the store is missing.
        case missingFile
        /// Whether values of an attribute are kept outside of the store cannot be told.
        case unknownExternalData
        /// Rows have no record, and nobody said that they may get new ones.
        case missingRecords
        /// The entity, attribute or relationship does not exist.
        case unknownName
        /// The database cannot be written.
        case unwritable
    }

    /// The kind of problem.
    public let code: Code

    /// The file, the entity, or the row and its property.
    public private(set) var place: String

    /// The problem, and the remedy where there is one.
    public let message: String

    /// For ``Code/differentModel``: what differs, one line for each entity or property.
    public internal(set) var differences: [String] = []

    /// The place and the message.
    public var description: String {
        (["\(place): \(message)"] + differences.prefix(20).map { "  \($0)" }
            + (differences.count > 20 ? ["  and \(differences.count - 20) more"] : []))
            .joined(separator: "\n")
    }

    /// The place and the message.
    public var errorDescription: String? { description }

    init(_ code: Code, _ place: String, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }

    /// What an error of SQLite, or of anything below, means for a store.
    init(_ error: any Error, _ place: String) {
        switch error {
        case let error as CoreDataStoreError: self = error
        case let error as CoreDataModelError:
            self.init(.unreadable, error.place.isEmpty ? place : error.place, error.message)
        default:
            self.init(
                .unreadable,
                place,
                "this is no store that can be read: \(StoreCopy.message(error))"
            )
        }
    }
}
