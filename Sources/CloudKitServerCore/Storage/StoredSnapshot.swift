/// A kept state of a container: its records, zones, schemas, shares and subscriptions.
///
/// Users and credentials are no part of it, so that clients can go on after it was restored.
public struct StoredSnapshot: Hashable, Sendable, Codable {
    /// The container's identifier.
    public var container: String
    /// The snapshot's name, unique in its container.
    public var name: String
    /// When it was taken, in milliseconds since 1970-01-01 UTC.
    public var created: Int64

    /// Makes a description.
    public init(container: String, name: String, created: Int64) {
        self.container = container
        self.name = name
        self.created = created
    }
}
