public import Foundation

/// An error for a record that an app with Core Data or SwiftData could not have written, or could not read.
public struct CoreDataRecordError: Error, Hashable, Sendable, CustomStringConvertible,
    LocalizedError
{
    /// The kinds of problems.
    public enum Code: String, Hashable, Sendable {
        /// The record is of an entity that the model does not have.
        case unknownEntity
        /// A value has properties that the entity does not have.
        case unknownProperty
        /// A field or a property holds a value of another type.
        case wrongType
        /// The form that records give the attribute is not known.
        case unknownForm
        /// The asset of a large value has no file, or is no text.
        case unreadableAsset
    }

    /// The kind of problem.
    public let code: Code

    /// The record, the entity or the field.
    public let place: String

    /// The problem, with its remedy if there is one.
    public let message: String

    /// The place and the message.
    public var description: String { "\(place): \(message)" }

    /// The place and the message.
    public var errorDescription: String? { description }

    init(_ code: Code, _ place: String, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }
}
