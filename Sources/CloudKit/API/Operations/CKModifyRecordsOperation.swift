public import Foundation

/// An operation that saves and deletes records.
///
/// ```swift
/// let operation = CKModifyRecordsOperation(recordsToSave: notes, recordIDsToDelete: oldIDs)
/// operation.savePolicy = .changedKeys
/// operation.perRecordSaveBlock = { recordID, result in
///     if case .failure(let error) = result { print(recordID.recordName, error) }
/// }
/// operation.modifyRecordsResultBlock = { result in print(result) }
/// database.add(operation)
/// ```
///
/// In a custom zone all changes are made or none, unless `isAtomic` is false. An operation takes at
/// most 400 items; a request to the service holds 200: with more, each group of 200 is atomic on
/// its own.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The policies of a save: whether it compares versions, and which fields it sends.
    @nonexhaustive
    public enum RecordSavePolicy: Int, Sendable {
        /// Sends the changed fields, and fails when the server's version is newer.
        case ifServerRecordUnchanged = 0
        /// Sends the changed fields, whatever the server's version.
        case changedKeys = 1
        /// Sends all fields, whatever the server's version.
        case allKeys = 2
    }

    /// The records to save.
    open var recordsToSave: [CKRecord]?

    /// The records to delete.
    open var recordIDsToDelete: [CKRecord.ID]?

    /// The policy of the saves.
    open var savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged

    /// Data by which a client recognises its own changes.
    ///
    /// - Important: Web services do not support it: it is not sent, and change feeds report nil.
    open var clientChangeTokenData: Data?

    /// A Boolean value that indicates whether a zone's changes are made atomically.
    open var isAtomic: Bool = true

    /// The closure to call with the sent part of a record, from 0 to 1; before 1 only for records
    /// with assets.
    open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?

    /// The closure to call with the result for each record to save.
    public var perRecordSaveBlock:
        ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, any Error>) -> Void)?

    /// The closure to call with the result for each record to delete.
    public var perRecordDeleteBlock:
        ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var modifyRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var recordCompletion: ((CKRecord, (any Error)?) -> Void)?
    private var completion: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var saved: [CKRecord] = []
    private var deleted: [CKRecord.ID] = []

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that saves and deletes records.
    public convenience init(
        recordsToSave: [CKRecord]? = nil,
        recordIDsToDelete: [CKRecord.ID]? = nil
    ) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// The closure to call with the result for each record to save.
    @available(*, deprecated, message: "Use perRecordSaveBlock")
    open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// The closure to call at the end, with the saved and deleted records; failed ones are reported
    /// as one `CKError.partialFailure`.
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
