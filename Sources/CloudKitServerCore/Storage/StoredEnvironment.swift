public import CloudKitWire

/// One of a container's two worlds: its schema and its databases.
public struct StoredEnvironment: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredEnvironment>
    /// The container's identifier.
    public var container: String
    /// Development or production.
    public var kind: ServiceEnvironment
    /// Differs after every change of the schema.
    public var schemaVersion: Int64

    /// Makes a row.
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
