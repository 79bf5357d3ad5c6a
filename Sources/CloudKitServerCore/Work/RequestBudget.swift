/// What one request may cost the service; what needs more is refused with the service's own error.
///
/// Ours; Apple publishes no figures.
public struct RequestBudget: Hashable, Sendable {
    /// Rows and index entries that are read and written.
    public var rows: Int
    /// Milliseconds of one read or of one commit.
    public var milliseconds: Int64
    /// Rows and index entries that a deletion may take along; what is more is refused before anything is
    /// written.
    public var rowsPerDeletion: Int
    /// Rows and index entries after which a commit has to wait for a turn of its own, so that those who
    /// write little need not wait for it.
    public var rowsBesideOthers: Int
    /// Index entries that a page of a query looks at before it ends early, with a marker for the rest.
    public var entriesPerPage: Int
    /// Index entries that a page of a query looks at where it cannot end early: where the results have
    /// to be sorted first.
    public var entriesPerSort: Int
    /// Filters of a query.
    public var filters: Int
    /// Sort keys of a query.
    public var sorts: Int
    /// Names in `desiredKeys`.
    static let namesLimit = 2000
    /// Record types that saves may make just in time.
    public var newTypes: Int
    /// Fields that saves may make just in time.
    public var newFields: Int

    /// Makes a budget; every default is the service's own.
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
