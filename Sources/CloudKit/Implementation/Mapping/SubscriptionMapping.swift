import CloudKitWire
import Foundation

/// The mapping between subscriptions in the API and on the wire.
struct SubscriptionMapping: Sendable {
    let owners: OwnerMapping
    /// A closure that cleans a name from the server, for error messages.
    let cleaned: @Sendable (String) -> String

    /// Returns the wire's form.
    ///
    /// - Throws: `invalidArguments` for a predicate that CloudKit does not support.
    func wire(_ subscription: CKSubscription) throws(CKError) -> WireSubscription {
        var wire = WireSubscription(
            subscriptionID: subscription.subscriptionID,
            subscriptionType: nil,
            notificationInfo: subscription.notificationInfo?.wire
        )
        switch subscription {
        case let subscription as CKQuerySubscription:
            wire.subscriptionType = .query
            let zoneID = subscription.zoneID
            let query = try TranslatedQuery(
                subscription.query,
                owners: owners,
                home: zoneID ?? (owners.scope == .public ? .default : nil)
            )
            wire.query = query.wire
            // Without a filter the query would match everything.
            if query.matchesNothing { wire.query?.filterBy = [.nothing] }
            wire.zoneID = zoneID.map(owners.wire)
            wire.firesOn = subscription.querySubscriptionOptions.events
            let once = subscription.querySubscriptionOptions.contains(.firesOnce)
            wire.firesOnce = once ? true : nil
        case let subscription as CKRecordZoneSubscription:
            wire.subscriptionType = .zone
            wire.zoneID = owners.wire(subscription.zoneID)
            wire.query = subscription.recordType.map { WireQuery(recordType: $0) }
        case let subscription as CKDatabaseSubscription:
            wire.subscriptionType = .database
            wire.query = subscription.recordType.map { WireQuery(recordType: $0) }
        default:
            throw CKError(
                .invalidArguments,
                message: "A \(type(of: subscription)) cannot be saved as a subscription"
            )
        }
        return wire
    }

    /// Returns the API's form.
    ///
    /// - Throws: `internalError` for a subscription without the members that its type requires.
    func native(_ wire: WireSubscription) throws(CKError) -> CKSubscription {
        guard let name = wire.subscriptionID, !name.isEmpty, let type = wire.subscriptionType else {
            throw CKError(.internalError, message: "The server sent a subscription without a name")
        }
        let subscription: CKSubscription
        switch type {
        case .query: subscription = try query(wire, name)
        case .zone:
            guard let zoneID = wire.zoneID else {
                throw CKError(
                    .internalError,
                    message:
                        "The server sent the zone subscription \(cleaned(name)) without its zone"
                )
            }
            let zone = CKRecordZoneSubscription(
                zoneID: owners.native(zoneID),
                subscriptionID: name
            )
            zone.recordType = wire.query?.recordType
            subscription = zone
        case .database:
            let database = CKDatabaseSubscription(subscriptionID: name)
            database.recordType = wire.query?.recordType
            subscription = database
        }
        subscription.notificationInfo = wire.notificationInfo.map { CKNotificationInfo($0) }
        return subscription
    }

    private func query(
        _ wire: WireSubscription,
        _ name: String
    ) throws(CKError) -> CKQuerySubscription {
        guard let query = wire.query, !query.recordType.isEmpty,
            let events = wire.firesOn, !events.isEmpty
        else {
            throw CKError(
                .internalError,
                message: "The server sent the query subscription \(cleaned(name)) without its query"
            )
        }
        var options = CKQuerySubscription.Options(events)
        if wire.firesOnce ?? false { options.insert(.firesOnce) }
        let subscription = CKQuerySubscription(
            recordType: query.recordType,
            predicate: NSPredicate(
                query.filterBy,
                owners: owners,
                home: wire.zoneID.map(owners.native) ?? (owners.scope == .public ? .default : nil)
            ),
            subscriptionID: name,
            options: options
        )
        subscription.zoneID = wire.zoneID.map(owners.native)
        return subscription
    }
}

extension CKQuerySubscription.Options {
    fileprivate init(_ events: [WireSubscription.Event]) {
        self = []
        for event in events {
            switch event {
            case .create: insert(.firesOnRecordCreation)
            case .update: insert(.firesOnRecordUpdate)
            case .delete: insert(.firesOnRecordDeletion)
            }
        }
    }

    fileprivate var events: [WireSubscription.Event] {
        var events: [WireSubscription.Event] = []
        if contains(.firesOnRecordCreation) { events.append(.create) }
        if contains(.firesOnRecordUpdate) { events.append(.update) }
        if contains(.firesOnRecordDeletion) { events.append(.delete) }
        return events
    }
}
