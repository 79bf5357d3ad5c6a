public import Foundation

/// An error of finding or reading a schema.
public struct CloudKitSchemaError: Error, CustomStringConvertible, LocalizedError {
    /// What went wrong, and where.
    public let description: String

    /// What went wrong, and where.
    public var errorDescription: String? { description }

    init(_ description: String) {
        self.description = description
    }
}
