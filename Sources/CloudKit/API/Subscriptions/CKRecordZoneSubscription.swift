public import Foundation

/// A subscription to changes in one custom zone of the private database.
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a subscription before they hand it over.

    /// The zone to watch.
    open var zoneID: CKRecordZone.ID { zone }

    /// The type of the records whose changes count; nil for all.
    public var recordType: CKRecord.RecordType?

    private let zone: CKRecordZone.ID

    /// Creates a subscription with a new name.
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
    }

    /// Creates a subscription with a name.
    public init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        zone = zoneID
        super.init(subscriptionID, .recordZone)
    }

    /// Returns an independent copy with the same values.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: subscriptionID)
        copy.notificationInfo = notificationInfo
        copy.recordType = recordType
        return copy
    }

    /// Encodes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(zone, forKey: "ZoneID")
        coder.encode(recordType as NSString?, forKey: "RecordType")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a subscription from an archive; nil when its name or zone is missing.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let zone = aDecoder.object(CKRecordZone.ID.self, forKey: "ZoneID") else { return nil }
        self.zone = zone
        super.init(coder: aDecoder)
        recordType = aDecoder.string(forKey: "RecordType")
    }
}
