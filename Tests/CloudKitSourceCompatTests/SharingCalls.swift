// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: sharing, accounts and subscriptions as apps write them.
@Suite("Calls of containers and shares")
struct SharingCalls {
    func share(_ container: CKContainer, _ root: CKRecord) async throws {
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Shopping" as CKRecordValue
        share[CKShare.SystemFieldKey.title] = "Shopping"
        share.publicPermission = .readOnly
        let participant = try await container.shareParticipant(forEmailAddress: "a@example.com")
        participant.permission = .readWrite
        participant.role = .privateUser
        share.addParticipant(participant)
        _ = try await container.privateCloudDatabase.modifyRecords(
            saving: [root, share],
            deleting: []
        )
        guard let url = share.url else { return }
        let metadata = try await container.shareMetadata(for: url)
        if metadata.participantStatus == .pending { try await container.accept(metadata) }
        container.accept(metadata) { share, error in _ = share?.owner.userIdentity.nameComponents }
        _ = metadata.hierarchicalRootRecordID
        for participant in share.participants where participant.role == .owner {
            switch participant.acceptanceStatus {
            case .accepted: break
            default: break
            }
        }
    }

    func account(_ container: CKContainer) async throws {
        container.accountStatus { status, error in
            switch status {
            case .available: break
            case .noAccount, .restricted, .couldNotDetermine, .temporarilyUnavailable: break
            @unknown default: break
            }
        }
        _ = try await container.accountStatus()
        container.fetchUserRecordID { id, error in _ = id?.recordName }
        _ = try await container.userRecordID()
        _ = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in }
    }

    func subscriptions(_ database: CKDatabase) {
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        info.alertBody = "New"
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            subscriptionID: "notes",
            options: [.firesOnRecordCreation]
        )
        query.notificationInfo = info
        let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "zone")
        zone.notificationInfo = info
        let all = CKDatabaseSubscription(subscriptionID: "all")
        all.notificationInfo = info
        database.save(query) { subscription, error in _ = subscription?.subscriptionType }
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [query, zone, all],
            subscriptionIDsToDelete: nil
        )
        operation.modifySubscriptionsResultBlock = { _ in }
        database.add(operation)
    }

    @Test("A push is switched over by its type")
    func push() {
        let push: [AnyHashable: Any] = ["ck": ["met": ["sid": "all", "dbs": 2]]]
        let notification = CKNotification(fromRemoteNotificationDictionary: push)
        switch notification?.notificationType {
        case .database: #expect(notification?.subscriptionID == "all")
        default: Issue.record("wrong type")
        }
    }
}
