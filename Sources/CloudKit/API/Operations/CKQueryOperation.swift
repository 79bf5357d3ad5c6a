import Foundation

/// An operation that fetches one page of a query's results, with a cursor if there are more.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
/// let operation = CKQueryOperation(query: query)
/// operation.resultsLimit = 50
/// operation.recordMatchedBlock = { recordID, result in print(recordID, result) }
/// operation.queryResultBlock = { result in
///     if case .success(let cursor?) = result { database.add(CKQueryOperation(cursor: cursor)) }
/// }
/// database.add(operation)
/// ```
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    // @unchecked Sendable because the blocks and values are set before the operation starts.

    /// The position of a query's next page.
    public typealias Cursor = CKQueryCursor

    /// The limit that leaves the number of results to the server.
    public static let maximumResults: Int = 0

    /// The query to run; ignored when there is a cursor.
    open var query: CKQuery?

    /// The cursor of the page to fetch.
    open var cursor: CKQueryOperation.Cursor?

    /// The zone to search; nil for all zones, which the shared database does not allow.
    ///
    /// Ignored when there is a cursor.
    open var zoneID: CKRecordZone.ID?

    /// The maximum number of records to fetch; there may be fewer even if more follow the cursor.
    open var resultsLimit: Int = CKQueryOperation.maximumResults

    /// The keys of the fields to fetch: nil for all, an empty array for system fields only.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// The closure to call for each record, in the query's order.
    public var recordMatchedBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// The closure to call when the operation ends, with the cursor of the next page if there is
    /// one.
    public var queryResultBlock:
        ((_ operationResult: Result<CKQueryOperation.Cursor?, any Error>) -> Void)?

    private var recordFetched: ((CKRecord) -> Void)?
    private var completion: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?
    private let errors = ItemErrors()
    private var next: CKQueryOperation.Cursor?

    /// Creates an empty operation.
    public override init() {
        super.init()
    }

    /// Creates an operation that fetches the first page of a query.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Creates an operation that fetches the page that a cursor marks.
    public convenience init(cursor: CKQueryOperation.Cursor) {
        self.init()
        self.cursor = cursor
    }

    /// The closure to call for each record, in the query's order.
    @available(*, deprecated, message: "Use recordMatchedBlock")
    open var recordFetchedBlock: ((CKRecord) -> Void)? {
        get { recordFetched }
        set { recordFetched = newValue }
    }

    /// The closure to call when the operation ends, with the cursor of the next page if there is
    /// one.
    @available(*, deprecated, message: "Use queryResultBlock")
    open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    override func perform() async throws(CKError) {
        let page: QueryPage
        if let cursor {
            page = try await requests.query(
                after: cursor,
                desiredKeys: desiredKeys,
                limit: resultsLimit
            )
        } else if let query {
            page = try await requests.query(
                query,
                zoneID: zoneID,
                desiredKeys: desiredKeys,
                limit: resultsLimit
            )
        } else {
            throw CKError(
                .invalidArguments,
                message: "CKQueryOperation has neither a query nor a cursor"
            )
        }
        next = page.cursor
        await report {
            for (recordID, result) in page.matches {
                self.errors.note(recordID, result)
                if let recordMatchedBlock = self.recordMatchedBlock {
                    recordMatchedBlock(recordID, result)
                } else if let record = result.value {
                    self.recordFetched?(record)
                }
            }
        }
        try throwIfCancelled(among: page.matches.map(\.1.error))
    }

    override func conclude(_ error: CKError?) {
        if let queryResultBlock {
            queryResultBlock(error.map { .failure($0) } ?? .success(next))
        } else {
            completion?(next, errors.summary(error))
        }
    }
}
