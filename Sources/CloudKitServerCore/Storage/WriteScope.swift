#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rows that a write changes at most.
///
/// Writes that change different rows need not wait for each other. An engine may run all of them one
/// after the other, as if every write could change anything; one that runs them side by side makes sure
/// that a write keeps to what it promised, or lets it run alone.
///
/// Every scope also permits the documents that are read or written along the way, and adding to
/// queues: an engine guards each document by itself, so that one that a write has read is the same when
/// the write changes it.
public enum WriteScope: Hashable, Sendable {
    /// Anything.
    case everything
    /// A database and its zones.
    case database(DatabaseKey)
    /// A database and its zones, by the name of its owner.
    case databaseNamed(DatabaseName)
    /// The documents of a user, which writes of this scope change one after the other.
    case user(RowID<StoredUser>)
    /// A queue, from which writes of this scope take items one after the other.
    case queue(Data)
    /// A credential, by its hash.
    case credential(Data)
    /// All of several scopes.
    indirect case several(Set<WriteScope>)

    /// The scopes that it is made of.
    package var parts: Set<WriteScope> {
        guard case .several(let scopes) = self else { return [self] }
        return scopes.reduce(into: []) { $0.formUnion($1.parts) }
    }
}

/// The names of a user's database, where the user is not known by row.
public struct DatabaseName: Hashable, Sendable {
    /// The environment.
    public var environment: RowID<StoredEnvironment>
    /// The container of the environment.
    public var container: String
    /// The record name of the owner.
    public var owner: String

    /// Creates a name.
    public init(environment: RowID<StoredEnvironment>, container: String, owner: String) {
        self.environment = environment
        self.container = container
        self.owner = owner
    }
}
