/// The body of `changes/database`.
public struct DatabaseChangesRequest: Hashable, Sendable, Codable {
    /// The token of the previous response; nil for everything.
    public var syncToken: String?
    /// The maximum number of zones in a page.
    public var resultsLimit: Int?

    /// Creates a request.
    public init(syncToken: String? = nil, resultsLimit: Int? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

/// The response of `changes/database`: the changed zones, each once.
public struct DatabaseChangesResponse: Hashable, Sendable, Codable {
    /// The changed zones; deleted ones are marked.
    public var zones: [WireZone]
    /// The token of the next request.
    public var syncToken: String
    /// A Boolean value that indicates whether there are more changes; nil means no.
    public var moreComing: Bool?

    /// Creates a response.
    public init(zones: [WireZone], syncToken: String, moreComing: Bool) {
        self.zones = zones
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}
