import CloudKit
import Testing

@Suite("Notifications")
struct NotificationTests {
    private func push(_ kind: String, _ detail: [String: Any]) -> [AnyHashable: Any] {
        [
            "aps": ["alert": ["body": "New", "loc-args": ["x"]], "badge": 3, "sound": "s"],
            "ck": [
                "ce": 2, "cid": "iCloud.test", "nid": "n", "ckuserid": "_u",
                kind: detail.merging(["sid": "sub", "dbs": 2]) { old, _ in old },
            ] as [String: Any],
        ]
    }

    @Test("A query's push becomes a query notification")
    func query() throws {
        let notification = try #require(
            CKNotification(
                fromRemoteNotificationDictionary: push(
                    "qry",
                    ["zid": "Notes", "rid": "n1", "fo": 2, "af": ["title": "Milk"]]
                )
            )
        )
        #expect(notification.notificationType == .query)
        #expect(notification.containerIdentifier == "iCloud.test")
        #expect(notification.subscriptionID == "sub")
        #expect(notification.subscriptionOwnerUserRecordID?.recordName == "_u")
        #expect(notification.alertBody == "New" && notification.alertLocalizationArgs == ["x"])
        #expect(notification.badge == 3 && notification.soundName == "s")
        #expect(!notification.isPruned)
        let query = try #require(notification as? CKQueryNotification)
        #expect(query.queryNotificationReason == .recordUpdated)
        #expect(query.recordID?.recordName == "n1")
        #expect(query.recordID?.zoneID.zoneName == "Notes")
        #expect(query.recordFields?["title"] as? String == "Milk")
        #expect(query.databaseScope == .private)
    }

    @Test("Pushes of zones and databases become their notifications; a subclass takes only its own")
    func kinds() {
        let zone = push("fet", ["zid": "Notes", "zoid": "_o", "dbs": 3])
        let read = CKNotification(fromRemoteNotificationDictionary: zone)
        #expect((read as? CKRecordZoneNotification)?.recordZoneID?.ownerName == "_o")
        #expect(CKRecordZoneNotification(fromRemoteNotificationDictionary: zone) != nil)
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: zone) == nil)
        let database = CKNotification(fromRemoteNotificationDictionary: push("met", [:]))
        #expect((database as? CKDatabaseNotification)?.databaseScope == .private)
    }

    @Test("What is not CloudKit's makes no notification")
    func foreign() {
        for push in [
            [:], ["aps": ["alert": "x"]], ["ck": 3], ["ck": ["qry": 1]], ["ck": ["cid": "x"]],
        ] as [[AnyHashable: Any]] {
            #expect(CKNotification(fromRemoteNotificationDictionary: push) == nil)
        }
        let odd = CKNotification(
            fromRemoteNotificationDictionary: ["ck": ["qry": ["rid": 4, "fo": "x", "dbs": 99]]]
        )
        #expect((odd as? CKQueryNotification)?.recordID == nil)
    }
}
