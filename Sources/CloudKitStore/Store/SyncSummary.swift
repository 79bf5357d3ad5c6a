/// The results of a sync.
public struct SyncSummary: Hashable, Sendable {
    /// The rows that the server changed here.
    public var received: [RowChange] = []
    /// The number of records that the server accepted.
    public var saved = 0
    /// The number of records that the server deleted.
    public var deleted = 0
    /// A Boolean value that indicates whether the user's storage was full.
    ///
    /// Changes without room wait, and the next sync sends them again.
    public var isOverQuota = false

    /// Creates the summary of a sync that had nothing to do.
    public init() {}
}
