/// The kinds of databases in a container, as in the path of a request.
public enum DatabaseScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// The public database, one for all users.
    case `public`
    /// The private database, one for each user.
    case `private`
    /// The shared database, with the zones and records that others share with the user.
    case shared
}
