/// The service's limits, in one place for client and server.
///
/// Figures are those of CloudKit Web Services ("Property Metrics" and "Uploading Assets" in Apple's
/// archived reference) unless a member says otherwise.
public enum Limits {
    /// Operations in one `records/modify` request.
    public static let operationsPerRequest = 200

    /// Records in one response; also the default of `resultsLimit`.
    public static let recordsPerResponse = 200

    /// Tokens in one `assets/upload` request.
    public static let uploadTokensPerRequest = 200

    /// Bytes of one record without its assets.
    public static let recordBytes = 1_000_000

    /// Bytes of one asset.
    ///
    /// The documents disagree (15 MB and 50 MB); the larger refuses nothing that either allows.
    public static let assetBytes = 50 * 1024 * 1024

    /// Seconds for which an asset upload URL may be used.
    public static let assetUploadSeconds = 15 * 60

    /// Records that may point to one target with a `DELETE_SELF` or validating reference.
    public static let owningReferencesPerTarget = 750
    /// Participants of a share, its owner included.
    public static let participantsPerShare = 100

    /// Characters of a record name, zone name, record type or field name.
    public static let nameLength = 255

    /// Bytes of a request body other than an asset.
    ///
    /// A full batch of full records does not fit, so a client splits by size as well as by count.
    /// Ours; Apple publishes no figure.
    public static let requestBodyBytes = 16 * 1024 * 1024

    /// Nested arrays and objects in a request body.
    ///
    /// Ours; Apple publishes no figure.
    public static let requestDepth = 64
}
