public import Foundation

/// A wish to be told of records that a predicate matches, in the public or the private database.
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// What must happen to a record, and how often the subscription fires.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes options from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A record comes to match.
        public static var firesOnRecordCreation: CKQuerySubscription.Options {
            CKQuerySubscription.Options(rawValue: 1 << 0)
        }
        /// A record that matches changes.
        public static var firesOnRecordUpdate: CKQuerySubscription.Options {
            CKQuerySubscription.Options(rawValue: 1 << 1)
        }
        /// A record that matched is deleted.
        public static var firesOnRecordDeletion: CKQuerySubscription.Options {
            CKQuerySubscription.Options(rawValue: 1 << 2)
        }
        /// The subscription ends with its first notification.
        public static var firesOnce: CKQuerySubscription.Options {
            CKQuerySubscription.Options(rawValue: 1 << 3)
        }
    }

    /// The kind of records.
    public var recordType: CKRecord.RecordType? { query.recordType }

    /// What must hold for the records.
    open var predicate: NSPredicate { query.predicate }

    /// What must happen to a record.
    open var querySubscriptionOptions: CKQuerySubscription.Options { options }

    /// The zone that is watched; nil for all zones.
    open var zoneID: CKRecordZone.ID?

    let query: CKQuery
    private let options: Options

    /// Makes a subscription.
    ///
    /// Options without any of the three events end the process with "CKQuerySubscription: the
    /// options name no event".
    public init(
        recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        subscriptionID: CKSubscription.ID = UUID().uuidString,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        precondition(
            !querySubscriptionOptions.isDisjoint(with: Self.events),
            "CKQuerySubscription: the options name no event"
        )
        query = CKQuery(recordType: recordType, predicate: predicate)
        options = querySubscriptionOptions
        super.init(subscriptionID, .query)
    }

    private static let events: Options = [
        .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]

    /// An independent subscription with the same values.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuerySubscription(
            recordType: query.recordType,
            predicate: query.predicate,
            subscriptionID: subscriptionID,
            options: options
        )
        copy.notificationInfo = notificationInfo
        copy.zoneID = zoneID
        return copy
    }

    /// Writes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(query, forKey: "Query")
        coder.encode(Int64(options.rawValue), forKey: "QuerySubscriptionOptions")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a subscription; nil when its name, query or options are missing.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let query = aDecoder.object(CKQuery.self, forKey: "Query"),
            let bits = aDecoder.integer(forKey: "QuerySubscriptionOptions"), bits > 0
        else { return nil }
        self.query = query
        options = Options(rawValue: UInt(bits))
        super.init(coder: aDecoder)
        zoneID = aDecoder.object(CKRecordZone.ID.self, forKey: "ZoneID")
    }
}
