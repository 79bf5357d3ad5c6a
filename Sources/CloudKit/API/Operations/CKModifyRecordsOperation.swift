public import Foundation

/// Saves and deletes records.
///
/// In a custom zone everything is saved and deleted or nothing, unless `isAtomic` is false. At most
/// 400 items are taken; a request of the service holds 200, and of more each 200 are atomic by
/// themselves.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// Against what a save is checked, and what of a record is sent.
    @nonexhaustive
    public enum RecordSavePolicy: Int, Sendable {
        /// Sends what changed, and fails when the server's version is newer.
        case ifServerRecordUnchanged = 0
        /// Sends what changed, whatever the server's version.
        case changedKeys = 1
        /// Sends all fields, whatever the server's version.
        case allKeys = 2
    }

    /// The records to save.
    open var recordsToSave: [CKRecord]?

    /// The records to delete.
    open var recordIDsToDelete: [CKRecord.ID]?

    /// Against what saves are checked.
    open var savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged

    /// A mark by which this client would know its own changes again.
    ///
    /// - Important: Web services have no place for it: it is not sent, and change feeds answer nil.
    open var clientChangeTokenData: Data?

    /// Whether a zone's changes are made together or not at all.
    open var isAtomic: Bool = true

    /// Is told how much of a record was sent, from 0 to 1; before 1 only for records with assets.
    open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?

    /// Is told what became of each record to save.
    public var perRecordSaveBlock:
        ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, any Error>) -> Void)?

    /// Is told what became of each record to delete.
    public var perRecordDeleteBlock:
        ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// Is told of the end; a failure is one of the whole, not of an item.
    public var modifyRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var recordCompletion: ((CKRecord, (any Error)?) -> Void)?
    private var completion: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var saved: [CKRecord] = []
    private var deleted: [CKRecord.ID] = []

    /// Makes an operation with nothing to do.
    public override init() {
        super.init()
    }

    /// Makes an operation.
    public convenience init(
        recordsToSave: [CKRecord]? = nil,
        recordIDsToDelete: [CKRecord.ID]? = nil
    ) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// Is told what became of each record to save.
    @available(*, deprecated, message: "Use perRecordSaveBlock")
    open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// Is told of the end with what was saved and deleted; items that failed make a
    /// `CKError.partialFailure`.
    @available(*, deprecated, message: "Use modifyRecordsResultBlock")
    open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let records = recordsToSave ?? []
        let recordIDs = recordIDsToDelete ?? []
        let results = try await requests.modify(
            RecordModification(
                saving: records,
                deleting: recordIDs,
                policy: savePolicy,
                atomically: isAtomic
            ) { record, fraction in
                self.post { self.perRecordProgressBlock?(record, fraction) }
            }
        )
        await report {
            for record in records { self.report(record, results.saveResults[record.recordID]) }
            for recordID in recordIDs { self.report(recordID, results.deleteResults[recordID]) }
        }
        try throwIfCancelled(
            among: results.saveResults.values.map(\.error)
                + results.deleteResults.values.map(\.error)
        )
    }

    private func report(_ record: CKRecord, _ result: Result<CKRecord, any Error>?) {
        guard let result else { return }
        errors.note(record.recordID, result)
        if let record = result.value { saved.append(record) }
        if let perRecordSaveBlock {
            perRecordSaveBlock(record.recordID, result)
        } else {
            recordCompletion?(record, result.error)
        }
    }

    private func report(_ recordID: CKRecord.ID, _ result: Result<Void, any Error>?) {
        guard let result else { return }
        errors.note(recordID, result)
        if result.error == nil { deleted.append(recordID) }
        perRecordDeleteBlock?(recordID, result)
    }

    override func conclude(_ error: CKError?) {
        if let modifyRecordsResultBlock {
            modifyRecordsResultBlock(Result(error))
        } else {
            completion?(saved, deleted, errors.summary(error))
        }
    }
}
