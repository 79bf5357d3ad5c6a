/// A database that contains zones: an environment's public one, or a user's private one.
///
/// A shared database contains no zones of its own: it shows zones of other users' private databases.
public struct StoredDatabase: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredDatabase>
    /// The environment.
    public var environment: RowID<StoredEnvironment>
    /// The owner; `nil` for the public database.
    public var owner: RowID<StoredUser>?
    /// The incarnation of the database; a restored copy has another one.
    public var incarnation: Int64
    /// The number of the newest change to a zone.
    public var headSequence: Int64

    /// Creates a row.
    public init(
        id: RowID<StoredDatabase>,
        environment: RowID<StoredEnvironment>,
        owner: RowID<StoredUser>?,
        incarnation: Int64,
        headSequence: Int64
    ) {
        self.id = id
        self.environment = environment
        self.owner = owner
        self.incarnation = incarnation
        self.headSequence = headSequence
    }
}
