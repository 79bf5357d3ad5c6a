#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A small object that is found by its name, or with all others of its collection: a subscription,
/// an invitation, a link.
public struct StoredDocument: Hashable, Sendable {
    /// The name, unique in its collection.
    public var name: String
    /// The contents, which are opaque to an engine.
    public var body: Data

    /// Creates a document.
    public init(name: String, body: Data) {
        self.name = name
        self.body = body
    }
}
