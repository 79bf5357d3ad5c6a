public import Foundation

/// A wish to be told of changes in any custom zone of the private or the shared database.
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// The kind of records whose changes count; nil for all.
    public var recordType: CKRecord.RecordType?

    /// Makes a subscription with a new name.
    public convenience init() {
        self.init(subscriptionID: UUID().uuidString)
    }

    /// Makes a subscription.
    public init(subscriptionID: CKSubscription.ID) {
        super.init(subscriptionID, .database)
    }

    /// An independent subscription with the same values.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKDatabaseSubscription(subscriptionID: subscriptionID)
        copy.notificationInfo = notificationInfo
        copy.recordType = recordType
        return copy
    }

    /// Writes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(recordType as NSString?, forKey: "RecordType")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a subscription; nil when its name is missing.
    public required init!(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
        recordType = aDecoder.string(forKey: "RecordType")
    }
}
