public import CloudKitWire

/// The configuration of a service.
public struct ServiceConfiguration: Sendable {
    /// The maximum size of an asset in bytes.
    public var assetBytes: Int
    /// The maximum size of a request body in bytes.
    public var requestBodyBytes: Int
    /// The number of seconds for which a session is valid after its last use; each use of a web
    /// auth token extends it.
    public var webTokenSeconds: Int64
    /// The number of seconds for which an asset's download URL is valid.
    public var downloadSeconds: Int64
    /// A Boolean value that indicates whether a type that a save creates just in time can
    /// immediately be listed without a filter and queried by its system fields.
    ///
    /// CloudKit's own types cannot until `___recordID` is marked QUERYABLE; set this to `false` to
    /// see that refusal before iCloud returns it.
    public var indexesSystemFields: Bool

    /// A Boolean value that indicates whether a save in development creates the types and fields
    /// that it needs.
    public var growsSchema: Bool

    /// A Boolean value that indicates whether a web auth token is valid for one round trip only, as
    /// Apple documents.
    ///
    /// If `false`, every token of a session stays valid for as long as the session, as observed
    /// from Apple's service. Every response carries a new token in either case.
    public var rotatesWebTokens: Bool

    /// The number of bytes that a user's records and assets may take in one environment; `nil` for
    /// no limit.
    public var userQuotaBytes: Int64?

    /// The number of bytes that the public database of an environment may take; `nil` for no limit.
    public var publicQuotaBytes: Int64?

    /// The rate of requests for each user, and for all callers without a user together; `nil` for
    /// no limit.
    public var requestRate: RequestRate?

    /// A Boolean value that indicates whether the first request to a nonexistent container creates it.
    ///
    /// The credentials of one container then open every container of the service, and each user
    /// exists in each under the same record name. This is meant for tests that run in parallel,
    /// each in its own container.
    public var opensContainers = false

    /// A Boolean value that indicates whether a request may name its user in the header
    /// `X-CloudKit-User` instead of authenticating; the first request that names a user creates it.
    ///
    /// Anyone with an API token can then act as any user. `CloudServer` allows it on loopback only.
    public var acceptsUserNames = false

    /// A Boolean value that indicates whether all values without a type are read by the schema.
    ///
    /// If `false`, a whole number for a TIMESTAMP and a list after `IN` and `NOT_IN` need their
    /// type, as observed from iCloud; web pages that send no types require `true`.
    public var readsTypesBySchema = false

    var untaggedValues: UntaggedValues { readsTypesBySchema ? .bySchema : .asObserved }

    /// The number of seconds for which a zone's change feed reports that a record was deleted.
    ///
    /// Afterwards the record's tombstone is removed, and change tokens from before the deletion are
    /// refused as expired. The default is this service's own; Apple documents no value.
    public var tombstoneSeconds: Int64 = 90 * 24 * 60 * 60

    /// The work that one request may cost.
    public var budget = RequestBudget()

    /// The maximum number of records that one commit lists again for all participants of a zone;
    /// beyond it, change tokens of the zone expire.
    package var listedRecords = 10_000

    /// The cost of hashing a password.
    package var passwordCost = PasswordHash.Cost.recommended

    /// Creates a configuration; every default is the service's own limit.
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

/// A rate limit for requests, with the size of a burst and the number per second in the long run.
public struct RequestRate: Hashable, Sendable {
    /// The number of requests that may arrive in a burst.
    public var burst: Int
    /// The number of requests per second in the long run.
    public var perSecond: Double

    /// Creates a rate; values that are not positive become very small ones.
    public init(burst: Int, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }
}
