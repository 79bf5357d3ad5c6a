/// Which of a container's databases a request is about, as it stands in the path.
public enum DatabaseScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// One for all users.
    case `public`
    /// One for each user.
    case `private`
    /// What others share with the user.
    case shared
}
