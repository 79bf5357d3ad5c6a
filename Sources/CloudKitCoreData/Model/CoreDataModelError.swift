public import Foundation

/// An error for a model that cannot be used.
public struct CoreDataModelError: Error, Hashable, Sendable, CustomStringConvertible,
    LocalizedError
{
    /// The kinds of problems.
    public enum Code: String, Hashable, Sendable {
        /// A file or folder is missing or cannot be read.
        case unreadable
        /// A format of model files that is not supported, such as that of Xcode 3.
        case unsupported
        /// The bytes are not a model.
        case malformed
        /// The model exceeds a limit that no real model reaches; nothing beyond it was read.
        case tooLarge
        /// Parts of the model contradict each other.
        case inconsistent
        /// There are several versions, or none with the requested name.
        case version
    }

    /// The kind of problem.
    public let code: Code

    /// The file, with the entity and property in it; empty for the whole.
    public private(set) var place: String

    /// The problem, with its remedy if there is one.
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

    /// Returns the error with an outer place before its own.
    func within(_ outer: String) -> Self {
        var error = self
        error.place = place.isEmpty ? outer : "\(outer), \(place)"
        return error
    }
}
