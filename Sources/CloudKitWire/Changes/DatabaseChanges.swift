/// The body of `changes/database`.
public struct DatabaseChangesRequest: Hashable, Sendable, Codable {
    /// Where the previous answer ended; nil for everything.
    public var syncToken: String?
    /// Zones of one page.
    public var resultsLimit: Int?

    /// Makes a request.
    public init(syncToken: String? = nil, resultsLimit: Int? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

/// The answer of `changes/database`: the zones that changed, each once.
public struct DatabaseChangesResponse: Hashable, Sendable, Codable {
    /// The changed zones; deleted ones say so.
    public var zones: [WireZone]
    /// Where the next request starts.
    public var syncToken: String
    /// Whether more changes wait; nil means no.
    public var moreComing: Bool?

    /// Makes an answer.
    public init(zones: [WireZone], syncToken: String, moreComing: Bool) {
        self.zones = zones
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}
