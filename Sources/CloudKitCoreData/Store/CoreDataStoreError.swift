public import Foundation

/// An error for a store that cannot be read or converted to a database.
public struct CoreDataStoreError: Error, Hashable, Sendable, CustomStringConvertible,
    LocalizedError
{
    /// The kinds of problems.
    public enum Code: String, Hashable, Sendable {
        /// The file is missing, is not a store, or is damaged.
        case unreadable
        /// The model is not the one that the store was created with.
        case differentModel
        /// A row has content that is impossible for its entity.
        case invalidRow
        /// The file of an external value is missing.
        case missingFile
        /// It is unknown whether values of an attribute are external.
        case unknownExternalData
        /// Rows have no record, and new ones were not allowed.
        case missingRecords
        /// The entity, attribute or relationship does not exist.
        case unknownName
        /// The database cannot be written.
        case unwritable
        /// The database would replace a file of the store, or has a log of another one beside it.
        case conflictingFile
    }

    /// The kind of problem.
    public let code: Code

    /// The file, the entity, or the row and its property.
    public private(set) var place: String

    /// The problem, with its remedy if there is one.
    public let message: String

    /// The differences for ``Code/differentModel``, one line for each entity or property.
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

    /// Returns the error with a further sentence.
    func adding(_ sentence: String?) -> Self {
        guard let sentence else { return self }
        var error = Self(code, place, "\(message). \(sentence)")
        error.differences = differences
        return error
    }

    /// Creates the error that represents an error of SQLite, or of a lower layer, for a store.
    init(_ error: any Error, _ place: String) {
        switch error {
        case let error as CoreDataStoreError: self = error
        case let error as CoreDataModelError:
            self.init(.unreadable, error.place.isEmpty ? place : error.place, error.message)
        default:
            self.init(
                .unreadable,
                place,
                "this is not a readable store: \(StoreCopy.message(error))"
            )
        }
    }
}
