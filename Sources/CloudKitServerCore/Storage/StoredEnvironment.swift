public import CloudKitWire

/// An environment of a container, with its schema and databases.
public struct StoredEnvironment: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredEnvironment>
    /// The container's identifier.
    public var container: String
    /// The kind: development or production.
    public var kind: ServiceEnvironment
    /// The version of the schema, which every change replaces.
    public var schemaVersion: Int64

    /// Creates a row.
    public init(
        id: RowID<StoredEnvironment>,
        container: String,
        kind: ServiceEnvironment,
        schemaVersion: Int64
    ) {
        self.id = id
        self.container = container
        self.kind = kind
        self.schemaVersion = schemaVersion
    }
}
