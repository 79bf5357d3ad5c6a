/// The service's limits, shared by client and server.
///
/// The values are those of CloudKit Web Services ("Property Metrics" and "Uploading Assets" in
/// Apple's archived reference) unless a member documents another source.
public enum Limits {
    /// The maximum number of operations in one `records/modify` request.
    public static let operationsPerRequest = 200

    /// The maximum number of records in one response; also the default of `resultsLimit`.
    public static let recordsPerResponse = 200

    /// The maximum number of tokens in one `assets/upload` request.
    public static let uploadTokensPerRequest = 200

    /// The maximum size in bytes of one record without its assets.
    public static let recordBytes = 1_000_000

    /// The maximum size in bytes of one asset.
    ///
    /// The documents disagree (15 MB and 50 MB); the larger limit refuses nothing that either
    /// allows.
    public static let assetBytes = 50 * 1024 * 1024

    /// The number of seconds for which an asset upload URL is valid.
    public static let assetUploadSeconds = 15 * 60

    /// The maximum number of records that refer to one target with a `DELETE_SELF` or validating
    /// reference.
    public static let owningReferencesPerTarget = 750
    /// The maximum number of participants of a share, its owner included.
    public static let participantsPerShare = 100

    /// The maximum number of characters of a record name, zone name, record type or field name.
    public static let nameLength = 255

    /// The maximum size in bytes of a request body other than an asset.
    ///
    /// A full batch of full records does not fit, so a client splits by size as well as by count.
    /// Our choice; Apple publishes no limit.
    public static let requestBodyBytes = 16 * 1024 * 1024

    /// The maximum depth of arrays and objects in a request body.
    ///
    /// Our choice; Apple publishes no limit.
    public static let requestDepth = 64
}
