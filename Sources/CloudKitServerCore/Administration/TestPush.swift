import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The notification by which an operator tries a subscription.
struct TestPush: Sendable {
    let context: ServiceContext

    /// Sends what a subscription would tell, without a change: of a record that is called “test”, or of
    /// the zone or database that it watches.
    func send(
        _ subscriptionID: String,
        database: DatabaseScope,
        of user: ServiceUser,
        environment kind: ServiceEnvironment
    ) async throws -> Int {
        let now = context.clock.milliseconds
        let identifier = context.randomness.uuid().lowercased()
        let news = try await context.storage.write { writer in
            let environment = try ContainerDirectory(user.container).environment(kind, writer)
            let owner = try ContainerDirectory(user.container).user(user.userRecordName, writer)
            let collection = SubscriptionCollection(of: owner.id, to: database, in: environment.id)
            guard let subscription = try collection.subscription(subscriptionID, writer) else {
                throw RequestError(
                    .notFound,
                    reason: "\(user.userRecordName) has no subscription '\(subscriptionID)' in the "
                        + "\(database.rawValue) database"
                )
            }
            let payload = PushPayload(
                subscription: subscription,
                subject: Self.testSubject(of: subscription),
                identifier: identifier,
                container: user.container,
                owner: owner.recordName,
                scope: database,
                zone: subscription.zoneID ?? .defaultZone
            )
            return try PushDelivery(environment: environment, now: now, writer: writer)
                .deliver([payload], to: owner)
        }
        context.pushes.announce(news)
        return news.queues.count
    }

    private static func testSubject(of subscription: WireSubscription) -> PushPayload.Subject {
        switch subscription.subscriptionType {
        case .zone: return .zone
        case .database: return .database
        case .query, nil:
            let stamp = StoredRecord.Stamp(milliseconds: 0, user: "")
            let record = StoredRecord(
                id: RowID(rawValue: 0),
                zone: RowID(rawValue: 0),
                name: "test",
                type: subscription.query?.recordType ?? "",
                sequence: 0,
                created: stamp,
                modified: stamp,
                fields: Data()
            )
            return .record(RecordChange(kind: .updated, record: record), fields: RecordFields())
        }
    }
}
