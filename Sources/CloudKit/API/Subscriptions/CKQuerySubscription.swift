public import Foundation

/// A subscription to records that match a predicate, in the public or the private database.
///
/// ```swift
/// let subscription = CKQuerySubscription(
///     recordType: "Note",
///     predicate: NSPredicate(format: "count > %d", 1),
///     subscriptionID: "many",
///     options: [.firesOnRecordCreation, .firesOnRecordUpdate]
/// )
/// let info = CKSubscription.NotificationInfo()
/// info.shouldSendContentAvailable = true
/// subscription.notificationInfo = info
/// try await database.save(subscription)
/// ```
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    // @unchecked Sendable because apps fill in a subscription before they hand it over.

    /// The events that fire a subscription, and how often it fires.
    public struct Options: OptionSet, Sendable {
        /// The options as a bit mask.
        public let rawValue: UInt

        /// Creates options from a bit mask.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A record is created that matches, or comes to match.
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

    /// The type of the records.
    public var recordType: CKRecord.RecordType? { query.recordType }

    /// The condition that the records must match.
    open var predicate: NSPredicate { query.predicate }

    /// The events that fire the subscription.
    open var querySubscriptionOptions: CKQuerySubscription.Options { options }

    /// The zone to watch; nil for all zones.
    open var zoneID: CKRecordZone.ID?

    let query: CKQuery
    private let options: Options

    /// Creates a subscription to the records that match a predicate.
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

    /// Returns an independent copy with the same values.
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

    /// Encodes all values.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(query, forKey: "Query")
        coder.encode(Int64(options.rawValue), forKey: "QuerySubscriptionOptions")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Creates a subscription from an archive; nil when its name, query or options are missing.
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
