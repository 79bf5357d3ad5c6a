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

/// A record or a zone that differs between two states of a container.
public struct SnapshotDifference: Hashable, Sendable {
    /// The change from the earlier state to the later one.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// It is there.
        case added
        /// Its values are others.
        case changed
        /// It is gone.
        case deleted
    }

    /// The kind of difference.
    public var kind: Kind
    /// The database.
    public var database: RowID<StoredDatabase>
    /// The zone's name.
    public var zone: String
    /// The record's name; nil where the whole zone was added or deleted.
    public var record: String?
    /// The record's type; nil with it.
    public var type: String?

    /// Creates a difference.
    public init(
        _ kind: Kind,
        database: RowID<StoredDatabase>,
        zone: String,
        record: String? = nil,
        type: String? = nil
    ) {
        self.kind = kind
        self.database = database
        self.zone = zone
        self.record = record
        self.type = type
    }
}
