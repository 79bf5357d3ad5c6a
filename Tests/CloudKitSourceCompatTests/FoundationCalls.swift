// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing
import UniformTypeIdentifiers

// Uses of Foundation and other frameworks in programs around CloudKit that need support on platforms
// other than Apple's.

extension CKContainer {
    static func made(_ identifier: String) -> Self { Self(identifier: identifier) }
}

extension UTType {
    static let notebook = UTType(exportedAs: "com.example.notebook", conformingTo: .json)
}

final class SharedList: CKShare, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    required init(coder: NSCoder) {
        super.init(coder: coder)
    }
}

final class OpenQuery: CKQuery, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    required init(coder: NSCoder) {
        super.init(coder: coder)
    }
}

final class NamedGroup: CKOperationGroup, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    required init(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }
}

final class ZoneNews: CKRecordZoneSubscription, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    required init(coder: NSCoder) {
        super.init(coder: coder)
    }
}

final class PlaceOrder: CKLocationSortDescriptor {
    override init(key: String, relativeLocation: CLLocation) {
        super.init(key: key, relativeLocation: relativeLocation)
    }

    required init(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }
}

@Suite("Calls around CloudKit")
struct FoundationCalls {
    @Test("Objects and values that are objects on Apple platforms are arguments of formats")
    func arguments() {
        let recordID = CKRecord.ID(recordName: "milk")
        #expect(String(format: "%@", recordID as CVarArg).contains("milk"))
        #expect(String(format: "%@ %d", NSNumber(value: 3), 4) == "3 4")
        #expect(!String(format: "%@", Date() as CVarArg).isEmpty)
        let place = CLLocation(latitude: 1, longitude: 2)
        let arguments: [CVarArg] = [recordID, place, ["a"] as CVarArg, UUID() as CVarArg]
        #expect(arguments.count == 4)
        let day = Date(timeIntervalSinceReferenceDate: 0)
        let predicate = NSPredicate(format: "day >= %@ AND tags CONTAINS %@", day as CVarArg, "a")
        #expect(predicate.evaluate(with: ["day": day, "tags": ["a", "b"]]))
        #expect(!predicate.evaluate(with: ["day": day - 1, "tags": ["a"]]))
    }

    @Test("Settings are kept as Apple's samples keep them")
    func settings() throws {
        let name = UUID().uuidString
        let defaults = try #require(UserDefaults(suiteName: name))
        defaults.setValue(true, forKey: "didCreateZone")
        #expect(defaults.bool(forKey: "didCreateZone"))
        #expect(defaults.value(forKey: "didCreateZone") as? Bool == true)
        defaults.setValue(nil, forKey: "didCreateZone")
        #expect(defaults.value(forKey: "didCreateZone") == nil)
        defaults.removePersistentDomain(forName: name)
    }

    @Test("Notifications are waited for")
    func notifications() async {
        let center = NotificationCenter()
        let notifications = center.notifications(named: .CKAccountChanged)
        center.post(name: .CKAccountChanged, object: nil, userInfo: ["number": 1])
        center.post(name: .CKAccountChanged, object: nil, userInfo: ["number": 2])
        var numbers: [Int] = []
        for await notification in notifications {
            numbers.append(notification.userInfo?["number"] as? Int ?? 0)
            if numbers.count == 2 { break }
        }
        #expect(numbers == [1, 2])
    }

    @Test("A container is made by Self in an extension, types of data are declared")
    func declarations() {
        #expect(CKContainer.made("iCloud.com.example.app").containerIdentifier != nil)
        #expect(UTType.notebook.conforms(to: .json) && UTType.notebook.conforms(to: .text))
        #expect(UTType.notebook == UTType(importedAs: "com.example.notebook"))
    }

    @Test("Archived shares and queries, and subclasses of them, are read without an optional")
    func archives() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        CKShare(recordZoneID: .default).encode(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(SharedList(coder: unarchiver).recordID.recordName == CKRecordNameZoneWideShare)
        let other = NSKeyedArchiver(requiringSecureCoding: true)
        CKQuery(recordType: "Note", predicate: NSPredicate(value: true)).encode(with: other)
        other.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: other.encodedData)
        #expect(OpenQuery(coder: reader).recordType == "Note")
        let query: CKQuery = CKQuery(coder: reader)
        #expect(query.recordType == "Note")
    }

    @Test("A list of identities is archived, and read as a list of their class")
    func archivedLists() throws {
        let zoneIDs = [CKRecordZone.ID(zoneName: "Notes"), CKRecordZone.ID(zoneName: "Tags")]
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: zoneIDs,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedArrayOfObjects(
            ofClass: CKRecordZone.ID.self,
            from: data
        )
        #expect(read == zoneIDs)
    }

    @Test("A dictionary of zones is archived, and read as one of their class")
    func archivedDictionaries() throws {
        let zones = [CKRecordZone.ID(zoneName: "Notes"): CKRecord.ID(recordName: "milk")]
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: zones,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClass: CKRecordZone.ID.self,
            objectClass: CKRecord.ID.self,
            from: data
        )
        #expect(read == zones)
    }

    @Test("The folders of an app have names")
    func folders() {
        let folders = [
            URL.documentsDirectory, URL.applicationSupportDirectory, URL.cachesDirectory,
        ]
        #expect(Set(folders).count == 3 && folders.allSatisfy(\.isFileURL))
    }

    @Test("A point is made by the function that Core Location has for it")
    func points() {
        let point = CLLocationCoordinate2DMake(51.5, -0.1)
        #expect(point.latitude == 51.5 && point.longitude == -0.1)
        #expect(CLLocationCoordinate2DIsValid(point))
    }

    @Test("Orders by distance are archived and read as the class that they are")
    func archivedOrders() throws {
        let order = PlaceOrder(
            key: "home",
            relativeLocation: CLLocation(latitude: 1, longitude: 2)
        )
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: order,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: PlaceOrder.self, from: data)
        #expect(read?.key == "home" && read?.ascending == true)
        #expect(read?.relativeLocation.coordinate.longitude == 2)
    }

    @available(*, deprecated)
    @Test("What is left of the list of notifications ends, and does nothing")
    func oldNotifications() async {
        let queue = OperationQueue()
        let changes = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
        changes.notificationChangedBlock = { _ in Issue.record("a notification") }
        let changeError: Error? = await withCheckedContinuation { continuation in
            changes.fetchNotificationChangesCompletionBlock = { _, error in
                continuation.resume(returning: error)
            }
            queue.addOperation(changes)
        }
        #expect(changeError == nil && !changes.moreComing)
        let mark = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
        let marked: Int? = await withCheckedContinuation { continuation in
            mark.markNotificationsReadCompletionBlock = { ids, error in
                continuation.resume(returning: error == nil ? ids?.count : nil)
            }
            queue.addOperation(mark)
        }
        #expect(marked == 0)
        let badge = CKModifyBadgeOperation(badgeValue: 0)
        let ended: Bool = await withCheckedContinuation { continuation in
            badge.modifyBadgeCompletionBlock = { _ in continuation.resume(returning: true) }
            queue.addOperation(badge)
        }
        #expect(ended && badge.badgeValue == 0)
    }

    @available(*, deprecated)
    @Test("Participants have a type, as they had before there were roles")
    func participantTypes() {
        let owner = CKShare(recordZoneID: .default).owner
        switch owner.type {
        case .owner: break
        case .unknown, .privateUser, .publicUser: Issue.record("no owner")
        @unknown default: Issue.record("unknown")
        }
        owner.type = .privateUser
        #expect(owner.role == .privateUser)
        #expect(CKShare.ParticipantType.publicUser.rawValue == 4)
    }
}
