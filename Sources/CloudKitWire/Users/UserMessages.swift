/// The body of `users/discover`.
public struct DiscoverUsersRequest: Hashable, Sendable, Codable {
    /// The keys to look users up by.
    public var lookupInfos: [UserIdentity.LookupInfo]

    /// Creates a request.
    public init(lookupInfos: [UserIdentity.LookupInfo]) {
        self.lookupInfos = lookupInfos
    }
}

/// The response of `users/discover`: the users that were found, in any order.
public struct DiscoverUsersResponse: Hashable, Sendable, Codable {
    /// The users that were found.
    public var users: [UserIdentity]

    /// Creates a response.
    public init(users: [UserIdentity]) {
        self.users = users
    }
}
