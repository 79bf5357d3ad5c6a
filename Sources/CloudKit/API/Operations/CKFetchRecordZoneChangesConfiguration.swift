public import Foundation

/// The options for fetching one zone's changes.
///
/// Apps write `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable
{
    // @unchecked Sendable because apps fill in a configuration before they hand it over.

    /// The token that the last fetch ended with; nil to fetch from the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of records in a page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// The keys of the fields to fetch: nil for all, an empty array for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Creates a configuration that fetches everything from the beginning.
    public override init() {}

    /// Creates a configuration with a token, a limit and keys.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil,
        resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
        self.resultsLimit = resultsLimit ?? 0
        self.desiredKeys = desiredKeys
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any { independent }

    /// An independent copy with the same values.
    var independent: CKFetchRecordZoneChangesConfiguration {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken,
            resultsLimit: resultsLimit,
            desiredKeys: desiredKeys
        )
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(previousServerChangeToken, forKey: "PreviousServerChangeToken")
        coder.encode(Int64(resultsLimit), forKey: "ResultsLimit")
        coder.encode(desiredKeys as NSArray?, forKey: "DesiredKeys")
    }

    /// Creates a configuration from an archive; missing values are the defaults.
    public required init?(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        previousServerChangeToken = aDecoder.object(
            CKServerChangeToken.self,
            forKey: "PreviousServerChangeToken"
        )
        resultsLimit = aDecoder.integer(forKey: "ResultsLimit") ?? 0
        desiredKeys = aDecoder.strings(forKey: "DesiredKeys")
    }
}

/// The options for fetching one zone's changes, under their name before iOS 12.
///
/// Apps write `CKFetchRecordZoneChangesOperation.ZoneOptions`.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
open class CKFetchRecordZoneChangesOptions: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable
{
    // @unchecked Sendable because apps fill in the options before they hand them over.

    /// The configuration that operations take, with the same values.
    let configuration: CKFetchRecordZoneChangesConfiguration

    /// The token that the last fetch ended with; nil to fetch from the beginning.
    open var previousServerChangeToken: CKServerChangeToken? {
        get { configuration.previousServerChangeToken }
        set { configuration.previousServerChangeToken = newValue }
    }

    /// The maximum number of records in a page; 0 leaves it to the server.
    open var resultsLimit: Int {
        get { configuration.resultsLimit }
        set { configuration.resultsLimit = newValue }
    }

    /// The keys of the fields to fetch: nil for all, an empty array for system fields only.
    open var desiredKeys: [String]? {
        get { configuration.desiredKeys }
        set { configuration.desiredKeys = newValue }
    }

    /// Creates options that fetch everything from the beginning.
    public override init() {
        configuration = CKFetchRecordZoneChangesConfiguration()
    }

    init(_ configuration: CKFetchRecordZoneChangesConfiguration) {
        self.configuration = configuration
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesOptions(configuration.independent)
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        configuration.encode(with: coder)
    }

    /// Creates options from an archive; missing values are the defaults.
    public required init?(coder aDecoder: NSCoder) {
        guard let configuration = CKFetchRecordZoneChangesConfiguration(coder: aDecoder) else {
            return nil
        }
        self.configuration = configuration
    }
}
