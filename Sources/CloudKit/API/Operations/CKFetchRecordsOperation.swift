import Foundation

/// An operation that fetches records by ID.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The records to fetch.
    open var recordIDs: [CKRecord.ID]?

    /// The keys of the fields to fetch: nil for all, an empty array for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// The closure to call with the received part of a record, from 0 to 1; before 1 only for
    /// records with assets.
    open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?

    /// The closure to call with the result for each record.
    public var perRecordResultBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// The closure to call at the end, with an error only if the operation fails as a whole.
    public var fetchRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var recordCompletion: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    private var completion: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var fetched: [CKRecord.ID: CKRecord] = [:]
    private var fetchesCurrentUser = false

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches records.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Creates an operation that fetches the signed-in user's own record.
    ///
    /// - Important: Called on a subclass, which has initialisers of its own, it ends the process.
    open class func fetchCurrentUserRecordOperation() -> Self {
        let made = CKFetchRecordsOperation()
        made.fetchesCurrentUser = true
        guard let operation = made as? Self else {
            preconditionFailure("fetchCurrentUserRecordOperation() cannot create a \(self)")
        }
        return operation
    }

    /// The closure to call with the result for each record.
    @available(*, deprecated, message: "Use perRecordResultBlock")
    open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)? {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// The closure to call at the end, with the fetched records; failed ones are reported as one
    /// `CKError.partialFailure`.
    @available(*, deprecated, message: "Use fetchRecordsResultBlock")
    open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let recordIDs = fetchesCurrentUser ? [try await requests.userRecordID()] : recordIDs ?? []
        let results = try await requests.fetch(recordIDs, desiredKeys: desiredKeys) {
            recordID,
            fraction in
            self.post { self.perRecordProgressBlock?(recordID, fraction) }
        }
        await report {
            for recordID in recordIDs.unique { self.report(recordID, results[recordID]) }
        }
        try throwIfCancelled(among: results.values.map(\.error))
    }

    private func report(_ recordID: CKRecord.ID, _ result: Result<CKRecord, any Error>?) {
        guard let result else { return }
        errors.note(recordID, result)
        if let record = result.value {
            fetched[recordID] = record
            perRecordProgressBlock?(recordID, 1)
        }
        if let perRecordResultBlock {
            perRecordResultBlock(recordID, result)
        } else {
            recordCompletion?(result.value, recordID, result.error)
        }
    }

    override func conclude(_ error: CKError?) {
        if let fetchRecordsResultBlock {
            fetchRecordsResultBlock(Result(error))
        } else {
            completion?(fetched, errors.summary(error))
        }
    }
}
