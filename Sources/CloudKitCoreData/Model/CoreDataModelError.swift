public import Foundation

/// A model that cannot be used.
public struct CoreDataModelError: Error, Hashable, Sendable, CustomStringConvertible,
    LocalizedError
{
    /// What kind of problem it is.
    public enum Code: String, Hashable, Sendable {
        /// A file or folder is missing or cannot be read.
        case unreadable
        /// A form of model file that is not read, such as that of Xcode 3.
        case unsupported
        /// The bytes are no model.
        case malformed
        /// More than any real model has; nothing beyond the limit was read.
        case tooLarge
        /// Parts of the model contradict each other.
        case inconsistent
        /// There are several versions, or none of the name that was asked for.
        case version
    }

    /// The kind of problem.
    public let code: Code

    /// The file, and within it the entity and property; empty where it is the whole.
    public private(set) var place: String

    /// The problem, and the remedy where there is one.
    public let message: String

    /// The place and the message.
    public var description: String { place.isEmpty ? message : "\(place): \(message)" }

    /// The place and the message.
    public var errorDescription: String? { description }

    init(_ code: Code, _ message: String) {
        self.init(code, "", message)
    }

    init(_ code: Code, _ place: String, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }

    /// The error with what its place is a part of.
    func within(_ outer: String) -> Self {
        var error = self
        error.place = place.isEmpty ? outer : "\(outer), \(place)"
        return error
    }
}
