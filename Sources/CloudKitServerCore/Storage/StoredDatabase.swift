/// A database that holds zones: an environment's public one, or a user's private one.
///
/// A shared database holds no zones of its own: it shows zones of other users' private ones.
public struct StoredDatabase: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredDatabase>
    /// The environment.
    public var environment: RowID<StoredEnvironment>
    /// The owner; nil for the public database.
    public var owner: RowID<StoredUser>?
    /// Which life of the database this is: a restored copy is another one.
    public var incarnation: Int64
    /// The number of the newest change to a zone.
    public var headSequence: Int64

    /// Makes a row.
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
