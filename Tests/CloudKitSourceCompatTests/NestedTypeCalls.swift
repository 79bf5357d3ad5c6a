// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Extensions of the framework's types in apps, including nested types. For conformances to protocols
// of the standard library, apps write @retroactive, or the modules as here; in the types' own
// package, @retroactive is not allowed.

extension CloudKit.CKRecord: Swift.Identifiable {
    public var id: CKRecord.ID { recordID }
}

extension CloudKit.CKRecord.ID: Swift.Identifiable {
    public var id: String { recordName }
}

extension CloudKit.CKRecord.ID: Swift.Comparable {
    public static func < (left: CKRecord.ID, right: CKRecord.ID) -> Bool {
        left.recordName < right.recordName
    }
}

extension CloudKit.CKRecord.Reference: Swift.Comparable {
    public static func < (left: CKRecord.Reference, right: CKRecord.Reference) -> Bool {
        left.recordID < right.recordID
    }
}

extension CloudKit.CKRecordZone: Swift.Identifiable {
    public var id: CKRecordZone.ID { zoneID }
}

extension CloudKit.CKSubscription: Swift.Identifiable {
    public var id: CKSubscription.ID { subscriptionID }
}

extension CloudKit.CKShare.Participant: Swift.Identifiable {
    public var id: CKShare.Participant.ID { participantID }
}

extension CloudKit.CKError.Code: Swift.Comparable {
    public static func < (left: CKError.Code, right: CKError.Code) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension CloudKit.CKDatabase.Scope: Swift.CaseIterable, Swift.CustomStringConvertible {
    public static var allCases: [CKDatabase.Scope] { [.public, .private, .shared] }

    public var description: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        @unknown default: "new"
        }
    }
}

extension CloudKit.CKShare.ParticipantPermission: Swift.CaseIterable, Swift.Codable {
    public static let allCases: [CKShare.Participant.Permission] = [.none, .readOnly, .readWrite]
}

extension CKError.Code {
    var isWorthARetry: Bool {
        [.networkFailure, .networkUnavailable, .zoneBusy, .requestRateLimited].contains(self)
    }
}

extension CKError {
    var names: [String] {
        (partialErrorsByItemID ?? [:]).keys.compactMap { ($0 as? CKRecord.ID)?.recordName }
    }
}

extension CKRecord.Reference {
    convenience init(to name: String, in zoneID: CKRecordZone.ID = .default) {
        self.init(
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID),
            action: CKRecord.Reference.Action.none
        )
    }
}

extension CKRecordZone.ID {
    func record(_ name: String) -> CKRecord.ID { .init(recordName: name, zoneID: self) }
}

extension CKOperation.Configuration {
    static var eager: CKOperation.Configuration {
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        return configuration
    }
}

extension CKSubscription.NotificationInfo {
    static var silent: CKSubscription.NotificationInfo { .init(shouldSendContentAvailable: true) }
}

extension CKFetchRecordZoneChangesOperation.ZoneConfiguration {
    convenience init(since token: CKServerChangeToken?) {
        self.init()
        previousServerChangeToken = token
    }
}

extension CKModifyRecordsOperation.RecordSavePolicy {
    var isForced: Bool { self != .ifServerRecordUnchanged }
}

extension CKUserIdentity.LookupInfo {
    var text: String { emailAddress ?? phoneNumber ?? userRecordID?.recordName ?? "" }
}

extension CKShare.Metadata {
    var title: String? { share[CKShare.SystemFieldKey.title] as? String }
}

extension CKQueryOperation.Cursor {
    static func archived(_ data: Data) throws -> CKQueryOperation.Cursor? {
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: data)
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    var recordID: CKRecord.ID? {
        switch self {
        case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
        @unknown default: nil
        }
    }
}

extension CKRecord.RecordType {
    static let note = "Note"
}

extension Sequence where Element == (CKRecord.ID, Result<CKRecord, Error>) {
    var found: [CKRecord] { compactMap { try? $0.1.get() } }
}

extension Dictionary where Key == CKRecord.ID, Value == Result<CKRecord, Error> {
    var missing: [CKRecord.ID] { filter { (try? $0.value.get()) == nil }.keys.sorted() }
}

extension UUID {
    init?(_ recordID: CKRecord.ID) { self.init(uuidString: recordID.recordName) }
}

@Suite("Extensions of nested types")
struct NestedTypeCalls {
    @Test(
        "Identities, references and codes are sorted, listed and printed by an app's conformances"
    )
    func conformances() throws {
        let ids = ["b", "a"].map { CKRecordZone.ID.default.record($0) }
        #expect(ids.sorted().map(\.id) == ["a", "b"])
        #expect([CKRecord.Reference(to: "b"), .init(to: "a")].min()?.recordID == ids[1])
        #expect(CKRecord(recordType: .note, recordID: ids[0]).id == ids[0])
        #expect(CKRecordZone(zoneName: "Notes").id.zoneName == "Notes")
        #expect(CKDatabaseSubscription(subscriptionID: "all").id == "all")
        #expect(CKDatabase.Scope.allCases.map { "\($0)" } == ["public", "private", "shared"])
        #expect(CKError.Code.internalError < .networkFailure)
        let permissions = try JSONDecoder().decode(
            [CKShare.ParticipantPermission].self,
            from: JSONEncoder().encode(CKShare.ParticipantPermission.allCases)
        )
        #expect(permissions == [.none, .readOnly, .readWrite])
    }

    @Test("Members that an app adds are called as the framework's own are")
    func members() {
        let id = CKRecord.ID(recordName: "a")
        let results: [CKRecord.ID: Result<CKRecord, Error>] = [
            id: .failure(CKError(.unknownItem))
        ]
        #expect(results.missing == [id])
        #expect(
            [(id, Result<CKRecord, Error>.success(CKRecord(recordType: .note)))].found.count == 1
        )
        #expect(CKError.Code.zoneBusy.isWorthARetry && !CKError(.unknownItem).code.isWorthARetry)
        let partial = CKError(
            .partialFailure,
            userInfo: [CKPartialErrorsByItemIDKey: [id: CKError(.zoneBusy)]]
        )
        #expect(partial.names == ["a"])
        #expect(CKOperation.Configuration.eager.qualityOfService == .userInitiated)
        #expect(CKSubscription.NotificationInfo.silent.shouldSendContentAvailable)
        #expect(CKModifyRecordsOperation.RecordSavePolicy.allKeys.isForced)
        #expect(CKUserIdentity.LookupInfo(phoneNumber: "1").text == "1")
        #expect(CKSyncEngine.PendingRecordZoneChange.saveRecord(id).recordID == id)
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(since: nil)
        #expect(configuration.previousServerChangeToken == nil)
        #expect(UUID(CKRecord.ID()) != nil && UUID(id) == nil)
    }

    func list<Item: Identifiable>(_ items: [Item]) -> [Item.ID] { items.map(\.id) }

    func lists(_ share: CKShare, _ metadata: CKShare.Metadata, _ data: Data) throws {
        let participants: [CKShare.Participant.ID] = list(share.participants)
        let records: [CKRecord.ID] = list([share as CKRecord])
        _ = (participants, records, metadata.title, try CKQueryOperation.Cursor.archived(data))
    }
}
