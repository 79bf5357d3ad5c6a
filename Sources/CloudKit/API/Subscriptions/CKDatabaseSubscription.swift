public import Foundation

/// A subscription to changes in all custom zones of the private or the shared database.
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a subscription before they hand it over.

    /// The type of the records whose changes count; nil for all.
    public var recordType: CKRecord.RecordType?

    /// Creates a subscription with a new name.
    public convenience init() {
        self.init(subscriptionID: UUID().uuidString)
    }

    /// Creates a subscription with a name.
    public init(subscriptionID: CKSubscription.ID) {
        super.init(subscriptionID, .database)
    }

    /// Returns an independent copy with the same values.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKDatabaseSubscription(subscriptionID: subscriptionID)
        copy.notificationInfo = notificationInfo
        copy.recordType = recordType
        return copy
    }

    /// Encodes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(recordType as NSString?, forKey: "RecordType")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a subscription from an archive; nil when its name is missing.
    public required init!(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
        recordType = aDecoder.string(forKey: "RecordType")
    }
}
