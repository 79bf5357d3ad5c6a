// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of subscriptions")
struct CKSubscriptionCalls {
    @Test("Subscriptions of each kind are made in all usual forms")
    func kinds() throws {
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "title BEGINSWITH %@", "a"),
            subscriptionID: "notes",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion, .firesOnce]
        )
        query.zoneID = .default
        #expect(query.querySubscriptionOptions.contains(.firesOnce))
        #expect(query.recordType == "Note" && query.zoneID == .default)
        let all = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            subscriptionID: "all"
        )
        #expect(all.querySubscriptionOptions.contains(.firesOnRecordUpdate))

        let zone = CKRecordZoneSubscription(zoneID: .default)
        zone.recordType = "Note"
        #expect(zone.zoneID == .default)
        let named = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "zone")
        let database = CKDatabaseSubscription(subscriptionID: "database")
        database.recordType = "Note"
        #expect(!CKDatabaseSubscription().subscriptionID.isEmpty)

        let subscriptions: [CKSubscription] = [query, named, database]
        let kinds = subscriptions.map { subscription -> String in
            switch subscription.subscriptionType {
            case .query: "query"
            case .recordZone: "zone"
            case .database: "database"
            @unknown default: "new"
            }
        }
        #expect(kinds == ["query", "zone", "database"])
        #expect((subscriptions[0] as? CKQuerySubscription)?.recordType == "Note")
    }

    @Test("What a push shows is set property by property, or all at once")
    func information() {
        let info = CKSubscription.NotificationInfo()
        info.alertBody = "New"
        info.title = "Notes"
        info.subtitle = "Today"
        info.alertLocalizationKey = "key %@"
        info.alertLocalizationArgs = ["title"]
        info.soundName = "default"
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.shouldSendMutableContent = false
        info.desiredKeys = ["title"]
        info.category = "note"
        info.collapseIDKey = "notes"
        let same = CKSubscription.NotificationInfo(
            alertBody: "New",
            desiredKeys: ["title"],
            shouldBadge: true,
            shouldSendContentAvailable: true
        )
        #expect(same.alertBody == info.alertBody && same.desiredKeys == info.desiredKeys)
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        subscription.notificationInfo = info
        #expect(subscription.notificationInfo?.title == "Notes")
        subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        subscription.notificationInfo = nil
    }

    func calls(_ database: CKDatabase, _ subscription: CKSubscription) async throws {
        database.save(subscription) { saved, error in _ = saved?.subscriptionID }
        database.fetchAllSubscriptions { subscriptions, error in
            _ = subscriptions?.map(\.subscriptionID)
        }
        try await database.save(subscription)
        _ = try await database.subscription(for: "notes")
        for subscription in try await database.allSubscriptions() {
            try await database.deleteSubscription(withID: subscription.subscriptionID)
        }
        let (saved, deleted) = try await database.modifySubscriptions(
            saving: [subscription],
            deleting: ["old"]
        )
        _ = try saved["notes"]?.get()
        try deleted["old"]?.get()
    }
}
