/// A saved state of a container: its records, zones, schemas, shares and subscriptions.
///
/// It does not contain users and credentials, so that clients can continue after it was restored.
public struct StoredSnapshot: Hashable, Sendable, Codable {
    /// The container's identifier.
    public var container: String
    /// The snapshot's name, unique in its container.
    public var name: String
    /// The time at which it was taken, in milliseconds since 1970-01-01 UTC.
    public var created: Int64

    /// Creates a description.
    public init(container: String, name: String, created: Int64) {
        self.container = container
        self.name = name
        self.created = created
    }
}
