// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of notifications")
struct CKNotificationCalls {
    private let query: [AnyHashable: Any] = [
        "aps": ["content-available": 1],
        "ck": [
            "cid": "iCloud.com.example.app", "nid": "n1",
            "qry": ["sid": "notes", "rid": "r1", "zid": "Notes", "fo": 1, "dbs": 2],
        ] as [String: Any],
    ]

    @Test("A push is cast to its kind, or switched over by its type")
    func kinds() throws {
        let notification = CKNotification(fromRemoteNotificationDictionary: query)
        #expect(notification?.subscriptionID == "notes")
        #expect(notification?.containerIdentifier == "iCloud.com.example.app")
        #expect(notification?.isPruned == false)
        if let notification = notification as? CKQueryNotification {
            #expect(notification.recordID?.recordName == "r1")
            #expect(notification.databaseScope == .private)
            switch notification.queryNotificationReason {
            case .recordCreated: break
            case .recordUpdated, .recordDeleted: Issue.record("another reason")
            @unknown default: break
            }
            _ = notification.recordFields?["title"] as? String
        } else {
            Issue.record("no query notification")
        }
        let direct = CKQueryNotification(fromRemoteNotificationDictionary: query)
        #expect(direct?.recordID?.recordName == "r1")
        #expect(CKDatabaseNotification(fromRemoteNotificationDictionary: query) == nil)
        let zone: [AnyHashable: Any] = ["ck": ["fet": ["sid": "z", "zid": "Notes", "dbs": 2]]]
        let zoneID = CKRecordZoneNotification(fromRemoteNotificationDictionary: zone)?.recordZoneID
        #expect(zoneID?.zoneName == "Notes")
        switch CKNotification(fromRemoteNotificationDictionary: zone)?.notificationType {
        case .recordZone: break
        case .query, .database, .readNotification: Issue.record("another type")
        case nil: Issue.record("no notification")
        @unknown default: break
        }
        #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": [:]]) == nil)
    }
}
