// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

// Operations that apps subclass, and the methods that they override.

/// Work of the app's own in a queue with the framework's.
final class Step: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because it is read after it has ended.

    let previous: Step?
    private(set) var names: [String] = []

    init(_ name: String, after previous: Step? = nil) {
        self.previous = previous
        super.init()
        self.name = name
        if let previous { addDependency(previous) }
    }

    override func main() {
        guard !isCancelled else { return }
        names = (previous?.names ?? []) + [name ?? ""]
    }
}

/// Additional work before the framework's work, and around it.
class Logged: CKOperation, @unchecked Sendable {
    // @unchecked Sendable because one test uses it, after the operations have ended.

    private(set) var log: [String] = []

    override var isAsynchronous: Bool { true }

    override func start() {
        log.append("start")
        super.start()
    }

    override func main() {
        log.append("main")
        super.main()
    }

    override func cancel() {
        log.append("cancel")
        super.cancel()
    }

    override var qualityOfService: QualityOfService {
        get { .utility }
        set { super.qualityOfService = newValue }
    }
}

/// Saves all records except drafts, whatever the server has.
final class Upload: CKModifyRecordsOperation, @unchecked Sendable {
    // @unchecked Sendable because one test uses it.

    private(set) var changes: [String] = []

    override init() {
        super.init()
        configuration = .eager
    }

    override var recordsToSave: [CKRecord]? {
        get { super.recordsToSave?.filter { !$0.recordID.isDraft } }
        set { super.recordsToSave = newValue }
    }

    override var recordIDsToDelete: [CKRecord.ID]? {
        didSet { changes.append("deletes \(recordIDsToDelete?.count ?? 0)") }
    }

    override var savePolicy: CKModifyRecordsOperation.RecordSavePolicy {
        get { .allKeys }
        set { changes.append("policy \(newValue.rawValue)") }
    }

    override var isAtomic: Bool {
        get { false }
        set {}
    }

    override var clientChangeTokenData: Data? {
        willSet { changes.append("token") }
    }

    override var perRecordProgressBlock: ((CKRecord, Double) -> Void)? {
        get { super.perRecordProgressBlock ?? { _, _ in } }
        set { super.perRecordProgressBlock = newValue }
    }

    @available(*, deprecated)
    override var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, Error?) -> Void)? {
        didSet { changes.append("block") }
    }

    override var database: CKDatabase? {
        didSet { changes.append("database") }
    }

    override var group: CKOperationGroup? {
        get { super.group ?? Self.uploads }
        set { super.group = newValue }
    }

    override var configuration: CKOperation.Configuration! {
        get { super.configuration }
        set {
            newValue?.timeoutIntervalForRequest = 10
            super.configuration = newValue
        }
    }

    override var longLivedOperationWasPersistedBlock: (() -> Void)? {
        didSet { changes.append("persisted") }
    }

    private static let uploads: CKOperationGroup = {
        let group = CKOperationGroup()
        group.name = "uploads"
        return group
    }()
}

/// A subclass with its own initializer.
final class NotesFetch: CKFetchRecordsOperation, @unchecked Sendable {
    // @unchecked Sendable because its only property is a constant.

    let names: [String]

    init(names: [String]) {
        self.names = names
        super.init()
        recordIDs = names.map { CKRecord.ID(recordName: $0) }
    }

    convenience init(_ notes: [CKRecord]) {
        self.init(names: notes.map(\.recordID.recordName))
    }

    override var recordIDs: [CKRecord.ID]? {
        get { super.recordIDs?.filter { !$0.isDraft } }
        set { super.recordIDs = newValue }
    }
}

final class ZonesFetch: CKFetchRecordZonesOperation, @unchecked Sendable {
    // @unchecked Sendable because its only property is a constant.

    let isFirst: Bool

    init(isFirst: Bool) {
        self.isFirst = isFirst
        super.init()
    }
}

final class SubscriptionsFetch: CKFetchSubscriptionsOperation, @unchecked Sendable {
    // @unchecked Sendable because its only property is a constant.

    let prefix: String

    init(prefix: String) {
        self.prefix = prefix
        super.init()
    }
}

final class NotesQuery: CKQueryOperation, @unchecked Sendable {
    // @unchecked Sendable because it stores nothing.

    override var resultsLimit: Int {
        get { max(super.resultsLimit, 10) }
        set { super.resultsLimit = newValue }
    }

    override var zoneID: CKRecordZone.ID? {
        get { .notes }
        set {}
    }
}

final class NotesChanges: CKFetchRecordZoneChangesOperation, @unchecked Sendable {
    // @unchecked Sendable because it stores nothing.

    override var recordZoneIDs: [CKRecordZone.ID]? {
        get { super.recordZoneIDs ?? [.notes] }
        set { super.recordZoneIDs = newValue }
    }

    override var fetchAllChanges: Bool {
        get { true }
        set {}
    }
}

@Suite("Operations of an app's own")
struct CKOperationSubclassCalls {
    @Test("Operations do what their subclass says, in the order of their dependencies, and end")
    func ownWork() async {
        let first = Step("first")
        let second = Step("second", after: first)
        let third = Step("third", after: second)
        third.cancel()
        let queue = OperationQueue()
        await withCheckedContinuation { continuation in
            third.completionBlock = { continuation.resume() }
            queue.addOperations([third, second, first], waitUntilFinished: false)
        }
        #expect(second.names == ["first", "second"] && third.names == [])
        #expect(first.isFinished && second.isFinished && third.isFinished)
        #expect(!first.isExecuting && first.name == "first")
    }

    @Test("A subclass adds to the start, the work and the end of an operation")
    func addedWork() async {
        let (logged, cancelled) = (Logged(), Logged())
        cancelled.cancel()
        for operation in [logged, cancelled] {
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                OperationQueue().addOperation(operation)
            }
        }
        #expect(logged.log == ["start", "main"] && logged.isFinished)
        #expect(cancelled.log == ["cancel", "start"] && cancelled.isFinished)
        #expect(logged.qualityOfService == .utility)
    }

    @Test("What a subclass overrides holds for the framework too")
    func properties() {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note"))
        let draft = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "draft-1"))
        let upload = Upload(recordsToSave: [note, draft])
        let operation: CKModifyRecordsOperation = upload
        operation.recordIDsToDelete = [draft.recordID]
        #expect(operation.recordsToSave == [note] && operation.savePolicy == .allKeys)
        operation.savePolicy = .changedKeys
        operation.isAtomic = true
        operation.clientChangeTokenData = Data([1])
        operation.longLivedOperationWasPersistedBlock = {}
        (operation as CKDatabaseOperation).database = CKContainer.app.privateCloudDatabase
        #expect(upload.changes == ["deletes 1", "policy 1", "token", "persisted", "database"])
        #expect(!operation.isAtomic && operation.group?.name == "uploads")
        #expect(operation.configuration.timeoutIntervalForRequest == 10)
        #expect(!operation.operationID.isEmpty)
        #expect(operation.perRecordProgressBlock != nil)

        let query: CKQueryOperation = NotesQuery()
        query.resultsLimit = 1
        #expect(query.resultsLimit == 10 && query.zoneID == .notes)
        let changes = NotesChanges()
        #expect(changes.recordZoneIDs == [.notes] && changes.fetchAllChanges)
    }

    @Test("Subclasses are made in ways of their own, and in those of the framework")
    func initialisers() {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note"))
        let fetch = NotesFetch([note])
        #expect(fetch.names == ["note"] && fetch.recordIDs == [note.recordID])
        fetch.recordIDs?.append(CKRecord.ID(recordName: "draft-1"))
        #expect((fetch as CKFetchRecordsOperation).recordIDs == [note.recordID])
        #expect(ZonesFetch(isFirst: true).isFirst && SubscriptionsFetch(prefix: "a").prefix == "a")
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        #expect(NotesQuery(query: query).query === query && NotesQuery().query == nil)
        #expect(Upload(recordsToSave: [note]).recordIDsToDelete == nil)
        #expect(Upload().recordsToSave == nil)
    }
}
