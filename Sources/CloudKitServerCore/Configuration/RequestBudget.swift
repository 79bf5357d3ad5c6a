/// The limits on the work of one request; a request beyond them is refused with the service's own error.
///
/// They are this service's own; Apple documents none.
public struct RequestBudget: Hashable, Sendable {
    /// The number of rows and index entries that are read and written.
    public var rows: Int
    /// The duration of one read or one commit in milliseconds.
    public var milliseconds: Int64
    /// The number of rows and index entries that a deletion may delete as well; more are refused
    /// before anything is written.
    public var rowsPerDeletion: Int
    /// The number of rows and index entries after which a commit must wait for a turn of its own,
    /// so that small commits need not wait for it.
    public var rowsBesideOthers: Int
    /// The number of index entries that a page of a query visits before it ends early, with a
    /// marker for the rest.
    public var entriesPerPage: Int
    /// The number of index entries that a page of a query visits if it cannot end early because the
    /// results must be sorted first.
    public var entriesPerSort: Int
    /// The number of filters of a query.
    public var filters: Int
    /// The number of sort keys of a query.
    public var sorts: Int
    /// The number of names in `desiredKeys`.
    static let namesLimit = 2000
    /// The number of record types that saves may create just in time.
    public var newTypes: Int
    /// The number of fields that saves may create just in time.
    public var newFields: Int

    /// Creates a budget; every default is the service's own.
    public init(
        rows: Int = 400_000,
        milliseconds: Int64 = 10_000,
        rowsPerDeletion: Int = 100_000,
        rowsBesideOthers: Int = 20_000,
        entriesPerPage: Int = 20_000,
        entriesPerSort: Int = 50_000,
        filters: Int = 100,
        sorts: Int = 16,
        newTypes: Int = 50,
        newFields: Int = 1000
    ) {
        self.rows = rows
        self.milliseconds = milliseconds
        self.rowsPerDeletion = rowsPerDeletion
        self.rowsBesideOthers = rowsBesideOthers
        self.entriesPerPage = entriesPerPage
        self.entriesPerSort = entriesPerSort
        self.filters = filters
        self.sorts = sorts
        self.newTypes = newTypes
        self.newFields = newFields
    }
}
