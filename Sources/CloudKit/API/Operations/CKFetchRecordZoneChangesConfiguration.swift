public import Foundation

/// What is fetched of one zone's changes.
///
/// Apps write `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
open class CKFetchRecordZoneChangesConfiguration: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable
{
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// Where the last fetch ended; nil stands for the beginning.
    open var previousServerChangeToken: CKServerChangeToken?

    /// Records of one page; 0 leaves it to the server.
    open var resultsLimit: Int = 0

    /// The fields to fetch: nil for all, none for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Makes a configuration that fetches everything from the beginning.
    public override init() {}

    /// Makes a configuration.
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

    /// An independent configuration with the same values.
    open func copy(with zone: NSZone? = nil) -> Any { independent }

    /// Another configuration with the same values.
    var independent: CKFetchRecordZoneChangesConfiguration {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken,
            resultsLimit: resultsLimit,
            desiredKeys: desiredKeys
        )
    }

    /// True: an archived configuration can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(previousServerChangeToken, forKey: "PreviousServerChangeToken")
        coder.encode(Int64(resultsLimit), forKey: "ResultsLimit")
        coder.encode(desiredKeys as NSArray?, forKey: "DesiredKeys")
    }

    /// Reads a configuration; what is missing has its default.
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

/// What is fetched of one zone's changes, as it was asked before iOS 12.
///
/// Apps write `CKFetchRecordZoneChangesOperation.ZoneOptions`.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
open class CKFetchRecordZoneChangesOptions: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable
{
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// The options as the configuration that operations take.
    let configuration: CKFetchRecordZoneChangesConfiguration

    /// Where the last fetch ended; nil stands for the beginning.
    open var previousServerChangeToken: CKServerChangeToken? {
        get { configuration.previousServerChangeToken }
        set { configuration.previousServerChangeToken = newValue }
    }

    /// Records of one page; 0 leaves it to the server.
    open var resultsLimit: Int {
        get { configuration.resultsLimit }
        set { configuration.resultsLimit = newValue }
    }

    /// The fields to fetch: nil for all, none for system fields only.
    open var desiredKeys: [String]? {
        get { configuration.desiredKeys }
        set { configuration.desiredKeys = newValue }
    }

    /// Makes options that fetch everything from the beginning.
    public override init() {
        configuration = CKFetchRecordZoneChangesConfiguration()
    }

    init(_ configuration: CKFetchRecordZoneChangesConfiguration) {
        self.configuration = configuration
    }

    /// Independent options with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesOptions(configuration.independent)
    }

    /// True: archived options can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes all values.
    open func encode(with coder: NSCoder) {
        configuration.encode(with: coder)
    }

    /// Reads options; what is missing has its default.
    public required init?(coder aDecoder: NSCoder) {
        guard let configuration = CKFetchRecordZoneChangesConfiguration(coder: aDecoder) else {
            return nil
        }
        self.configuration = configuration
    }
}
