/// The body of `users/discover`.
public struct DiscoverUsersRequest: Hashable, Sendable, Codable {
    /// What the users are found by.
    public var lookupInfos: [UserIdentity.LookupInfo]

    /// Makes a request.
    public init(lookupInfos: [UserIdentity.LookupInfo]) {
        self.lookupInfos = lookupInfos
    }
}

/// The answer of `users/discover`: the users that were found, in any order.
public struct DiscoverUsersResponse: Hashable, Sendable, Codable {
    /// The users that were found.
    public var users: [UserIdentity]

    /// Makes an answer.
    public init(users: [UserIdentity]) {
        self.users = users
    }
}
