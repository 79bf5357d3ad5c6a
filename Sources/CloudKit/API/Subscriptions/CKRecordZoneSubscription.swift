public import Foundation

/// A wish to be told of changes in one custom zone of the private database.
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// The zone that is watched.
    open var zoneID: CKRecordZone.ID { zone }

    /// The kind of records whose changes count; nil for all.
    public var recordType: CKRecord.RecordType?

    private let zone: CKRecordZone.ID

    /// Makes a subscription with a new name.
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
    }

    /// Makes a subscription.
    public init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        zone = zoneID
        super.init(subscriptionID, .recordZone)
    }

    /// An independent subscription with the same values.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: subscriptionID)
        copy.notificationInfo = notificationInfo
        copy.recordType = recordType
        return copy
    }

    /// Writes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(zone, forKey: "ZoneID")
        coder.encode(recordType as NSString?, forKey: "RecordType")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a subscription; nil when its name or zone is missing.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let zone = aDecoder.object(CKRecordZone.ID.self, forKey: "ZoneID") else { return nil }
        self.zone = zone
        super.init(coder: aDecoder)
        recordType = aDecoder.string(forKey: "RecordType")
    }
}
