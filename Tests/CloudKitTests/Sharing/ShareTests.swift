import CloudKit
import Testing

@Suite("Shares")
struct ShareTests {
    private func copy<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object,
            requiringSecureCoding: true
        )
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        )
    }

    @Test("A new share refers to its root, lies in its zone, and is owned by the current user")
    func new() {
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let root = CKRecord(recordType: "Note", recordID: CKRecord.ID(zoneID: zoneID))
        let share = CKShare(rootRecord: root)
        #expect(root.share?.recordID == share.recordID)
        #expect(share.recordID.zoneID == zoneID && share.recordType == "cloudkit.share")
        #expect(share.publicPermission == .none && share.url == nil)
        #expect(share.owner.role == .owner && share.owner.permission == .readWrite)
        #expect(share.currentUserParticipant == share.owner)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        #expect(share["cloudkit.title"] == "Shopping")
        let zoneWide = CKShare(recordZoneID: zoneID)
        #expect(zoneWide.recordID.recordName == CKRecordNameZoneWideShare)
    }

    @Test("A share's archive keeps its participants' owner, permission and fields")
    func archive() throws {
        let share = CKShare(rootRecord: CKRecord(recordType: "Note"))
        share.publicPermission = .readOnly
        share[CKShare.SystemFieldKey.title] = "Shopping"
        let read = try copy(share)
        #expect(read.recordID == share.recordID && read.publicPermission == .readOnly)
        #expect(read[CKShare.SystemFieldKey.title] == "Shopping")
        #expect(read.participants.map(\.role) == [.owner])
        let copied = try #require(share.copy() as? CKShare)
        copied.publicPermission = .none
        #expect(share.publicPermission == .readOnly)
    }

    @Test("Subscriptions of all kinds keep their values in copies and archives")
    func subscriptions() throws {
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "age > 3 AND title BEGINSWITH 'M'"),
            subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnce]
        )
        query.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "New",
            shouldSendContentAvailable: true
        )
        let read = try copy(query)
        #expect(read.subscriptionID == "q" && read.recordType == "Note")
        #expect(read.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnce])
        #expect(read.notificationInfo?.alertBody == "New")
        #expect(read.notificationInfo?.shouldSendContentAvailable == true)
        let note = CKRecord(recordType: "Note")
        note["age"] = 4
        note["title"] = "Milk"
        #expect(read.predicate.evaluate(with: note))
        note["title"] = "Tea"
        #expect(!read.predicate.evaluate(with: note))

        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "z")
        zone.recordType = "Note"
        #expect(try copy(zone).zoneID == zoneID)
        #expect((zone.copy() as? CKRecordZoneSubscription)?.recordType == "Note")
        #expect(try copy(CKDatabaseSubscription(subscriptionID: "d")).subscriptionID == "d")
    }
}
