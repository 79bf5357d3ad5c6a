public import Foundation

/// An error that occurs while a schema is derived or parsed.
public struct CloudKitSchemaError: Error, CustomStringConvertible, LocalizedError {
    /// A description of the problem and its place.
    public let description: String

    /// A description of the problem and its place.
    public var errorDescription: String? { description }

    init(_ description: String) {
        self.description = description
    }
}
