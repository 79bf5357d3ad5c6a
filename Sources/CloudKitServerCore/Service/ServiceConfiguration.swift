public import CloudKitWire

/// What an operator can choose about a service.
public struct ServiceConfiguration: Sendable {
    /// Bytes of one asset at most.
    public var assetBytes: Int
    /// Bytes of a request body at most.
    public var requestBodyBytes: Int
    /// Seconds for which a session lasts after it was used last: a web auth token that is used renews.
    public var webTokenSeconds: Int64
    /// Seconds for which an asset's download URL is good.
    public var downloadSeconds: Int64
    /// Whether a type that a save makes just in time can be listed without a filter and queried by
    /// its system fields at once.
    ///
    /// CloudKit's own types cannot until somebody marks `___recordID` QUERYABLE; set this to
    /// `false` to meet that refusal before iCloud shows it.
    public var indexesSystemFields: Bool

    /// Whether a save in development makes the types and fields that it needs.
    public var growsSchema: Bool

    /// Whether a web auth token is good for one round trip only, as Apple documents it.
    ///
    /// Off, every token of a session stays good for as long as the session does, as Apple's service
    /// is observed to do; every answer carries a new token either way.
    public var rotatesWebTokens: Bool

    /// Bytes that a user's records and assets may take in one environment; nil for any number.
    public var userQuotaBytes: Int64?

    /// Bytes that the public database of an environment may take; nil for any number.
    public var publicQuotaBytes: Int64?

    /// Requests that each user may make, and all callers without a user together; nil for any
    /// number.
    public var requestRate: RequestRate?

    /// Whether a container that nobody made is made, empty, by the first request for it.
    ///
    /// The credentials of one container then open every container of the service, and each user
    /// exists in each under the same record name. Meant for tests, which run beside each other in
    /// containers of their own.
    public var opensContainers = false

    /// Whether a request may name its user in the header `X-CloudKit-User` instead of proving who it
    /// is; the user is made by the first request that names it.
    ///
    /// Whoever has an API token can then be anyone. `CloudServer` allows it on loopback only.
    public var acceptsUserNames = false

    /// Whether every value that comes without a type is read by the schema.
    ///
    /// Off, a whole number for a TIMESTAMP and a list after `IN` and `NOT_IN` need their type, as
    /// iCloud was seen to want it; pages that send no types at all need it on.
    public var readsTypesBySchema = false

    var untaggedValues: UntaggedValues { readsTypesBySchema ? .bySchema : .asObserved }

    /// Seconds for which a zone's change feed tells that a record was deleted; then its tombstone is
    /// removed, and change tokens from before the deletion are refused as expired.
    ///
    /// Ours; Apple publishes no figure.
    public var tombstoneSeconds: Int64 = 90 * 24 * 60 * 60

    /// What one request may cost.
    public var budget = RequestBudget()

    /// Records that one commit lists again for all participants of a zone at most; what concerns more
    /// makes change tokens of the zone expire.
    package var listedRecords = 10_000

    /// What hashing a password costs.
    package var passwordCost = PasswordHash.Cost.recommended

    /// Makes a configuration; every default is the service's own limit.
    public init(
        assetBytes: Int = Limits.assetBytes,
        requestBodyBytes: Int = Limits.requestBodyBytes,
        webTokenSeconds: Int64 = 14 * 24 * 60 * 60,
        downloadSeconds: Int64 = 24 * 60 * 60,
        indexesSystemFields: Bool = true,
        growsSchema: Bool = true,
        rotatesWebTokens: Bool = false,
        userQuotaBytes: Int64? = nil,
        publicQuotaBytes: Int64? = nil,
        requestRate: RequestRate? = nil
    ) {
        self.assetBytes = assetBytes
        self.requestBodyBytes = requestBodyBytes
        self.webTokenSeconds = webTokenSeconds
        self.downloadSeconds = downloadSeconds
        self.indexesSystemFields = indexesSystemFields
        self.growsSchema = growsSchema
        self.rotatesWebTokens = rotatesWebTokens
        self.userQuotaBytes = userQuotaBytes
        self.publicQuotaBytes = publicQuotaBytes
        self.requestRate = requestRate
    }
}
