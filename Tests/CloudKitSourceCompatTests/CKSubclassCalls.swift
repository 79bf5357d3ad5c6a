// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Framework classes that apps subclass, and the methods that they override. Objects that only the
// framework can create, such as databases, cannot be instances of a subclass either. On Apple
// platforms, a method with a completion handler and its async form are one method of Objective-C: a
// subclass overrides one of the two.

/// A database for tests, which create it in their own way.
class DatabaseInMemory: CKDatabase, @unchecked Sendable {
    // @unchecked Sendable because tests use it from one task.

    private var records: [CKRecord.ID: CKRecord] = [:]

    override var databaseScope: CKDatabase.Scope { .private }

    override func add(_ operation: CKDatabaseOperation) {
        OperationQueue.main.addOperation(operation)
    }

    override func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    ) {
        records[record.recordID] = record
        completionHandler(record, nil)
    }

    override func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping (CKRecordZone?, Error?) -> Void
    ) {
        completionHandler(zone, nil)
    }

    override func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await super.save(subscription)
    }

    override func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, Error?) -> Void
    ) {
        guard let record = records[recordID] else {
            return completionHandler(nil, CKError(.unknownItem))
        }
        completionHandler(record, nil)
    }

    override func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        records[recordID] = nil
        return recordID
    }

    override func allRecordZones() async throws -> [CKRecordZone] { [.default()] }

    override func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, Error?) -> Void
    ) {
        completionHandler([], nil)
    }

    @available(*, deprecated)
    override func perform(
        _ query: CKQuery,
        inZoneWith zoneID: CKRecordZone.ID?,
        completionHandler: @escaping @Sendable ([CKRecord]?, Error?) -> Void
    ) {
        completionHandler(records.values.filter { query.predicate.evaluate(with: $0) }, nil)
    }
}

class SignedInContainer: CKContainer, @unchecked Sendable {
    // @unchecked Sendable because it stores nothing.

    override class func `default`() -> CKContainer { .app }

    override var containerIdentifier: String? { "iCloud.com.example.tests" }

    override var sharedCloudDatabase: CKDatabase { privateCloudDatabase }

    override func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        super.database(with: databaseScope)
    }

    override func add(_ operation: CKOperation) { OperationQueue.main.addOperation(operation) }

    override func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, Error?) -> Void
    ) {
        completionHandler(.available, nil)
    }

    override func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, Error?) -> Void
    ) {
        completionHandler(CKRecord.ID(recordName: "_ada"), nil)
    }

    override func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        throw CKError(.unknownItem)
    }

    override func accept(_ metadata: CKShare.Metadata) async throws -> CKShare { metadata.share }
}

/// A record with properties of the app's own.
final class NoteRecord: CKRecord, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and what is added changes only as it is made.

    private(set) var openedAt = Date.distantPast

    // A convenience initialiser, like those of CKRecord on Apple platforms.
    convenience init(title: String, openedAt: Date) {
        self.init(recordType: "Note", recordID: CKRecord.ID(recordName: title))
        self.openedAt = openedAt
        self["title"] = title
    }

    override var parent: CKRecord.Reference? {
        didSet { self["hasParent"] = parent != nil }
    }

    override var modificationDate: Date? { super.modificationDate ?? openedAt }

    override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        coder.encode(true, forKey: "isNote")
    }

    override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecord)?.recordID == recordID
    }

    override var hash: Int { recordID.hash }
}

/// A record without additions.
final class PlainRecord: CKRecord, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.
}

final class ClosedShare: CKShare, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var publicPermission: CKShare.ParticipantPermission {
        get { .none }
        set {}
    }

    override var participants: [CKShare.Participant] {
        super.participants.filter { $0.role != .publicUser }
    }

    override var url: URL? { super.url ?? URL(string: "https://example.com/share") }

    override func addParticipant(_ participant: CKShare.Participant) {
        participant.permission = .readOnly
        super.addParticipant(participant)
    }
}

final class MissingAsset: CKAsset, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var fileURL: URL? { nil }
}

final class FetchedZone: CKRecordZone, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var capabilities: CKRecordZone.Capabilities { [.atomic, .fetchChanges] }
}

final class SilentInfo: CKSubscription.NotificationInfo, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var shouldSendContentAvailable: Bool {
        get { true }
        set {}
    }
}

final class NewestFirst: CKQuery, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var sortDescriptors: [NSSortDescriptor]? {
        get { super.sortDescriptors ?? [NSSortDescriptor(key: "day", ascending: false)] }
        set { super.sortDescriptors = newValue }
    }
}

final class SmallPages: CKFetchRecordZoneChangesOperation.ZoneConfiguration, @unchecked Sendable {
    // @unchecked Sendable because its superclass is, and nothing is added.

    override var resultsLimit: Int {
        get { 10 }
        set {}
    }
}

@Suite("Subclasses")
struct CKSubclassCalls {
    @Test("A record's subclass overrides its members, and is archived as any record is")
    func record() throws {
        let day = Date(timeIntervalSinceReferenceDate: 0)
        let note = NoteRecord(title: "Milk", openedAt: day)
        let record: CKRecord = note
        #expect(record.modificationDate == day)
        record.setParent(CKRecord(recordType: "List"))
        #expect(record["hasParent"] as? Bool == true)
        #expect(Set(record.changedKeys()) == ["title", "hasParent"])
        #expect(record == CKRecord(recordType: "Note", recordID: record.recordID))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(unarchiver.decodeBool(forKey: "isNote"))
        #expect(NoteRecord(coder: unarchiver)?.recordID == record.recordID)
    }

    @Test("Subclasses that add nothing are made as their superclasses are")
    func initialisers() {
        let record = PlainRecord(recordType: "Note")
        #expect(PlainRecord(recordType: "Note", recordID: record.recordID) != record)
        #expect(NamedShare(rootRecord: record).recordType == CKRecord.SystemType.share)
        #expect(NamedShare(recordZoneID: .notes).recordID.zoneID == .notes)
        let share = NamedShare(rootRecord: record, shareID: CKRecord.ID(recordName: "s"))
        share[CKShare.SystemFieldKey.title] = "Shopping"
        #expect(share.name == "Shopping")
        #expect(FetchedZone(zoneName: "Notes").zoneID == FetchedZone(zoneID: .notes).zoneID)
        #expect(SilentInfo(alertBody: "New").alertBody == "New")
        #expect(
            NewestFirst(recordType: "Note", predicate: NSPredicate(value: true)).copy() is CKQuery
        )
        #expect(SmallPages().copy() is CKFetchRecordZoneChangesOperation.ZoneConfiguration)
    }

    @Test("What a subclass overrides is what its superclass returns")
    func overriding() {
        let share: CKShare = ClosedShare(recordZoneID: .notes)
        share.publicPermission = .readWrite
        #expect(share.publicPermission == .none && share.participants.count == 1)
        #expect(share.url?.lastPathComponent == "share")
        let asset: CKAsset = MissingAsset(fileURL: URL(fileURLWithPath: "/photo"))
        #expect(asset.fileURL == nil)
        let zone: CKRecordZone = FetchedZone(zoneName: "Notes")
        #expect(zone.capabilities.contains(.atomic))
        let info: CKSubscription.NotificationInfo = SilentInfo()
        #expect(info.shouldSendContentAvailable)
        let query: CKQuery = NewestFirst(recordType: "Note", predicate: NSPredicate(value: true))
        #expect(query.sortDescriptors?.map(\.key) == ["day"])
        let pages: CKFetchRecordZoneChangesOperation.ZoneConfiguration = SmallPages()
        #expect(pages.resultsLimit == 10)
    }
}
