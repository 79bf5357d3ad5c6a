/// What a sync did.
public struct SyncSummary: Hashable, Sendable {
    /// The rows that the server changed here.
    public var received: [RowChange] = []
    /// The number of records that the server accepted.
    public var saved = 0
    /// The number of records that the server deleted.
    public var deleted = 0
    /// Whether the user's storage was full: what there was no room for waits, and is tried again with
    /// the next sync.
    public var isOverQuota = false

    /// Makes the summary of a sync that had nothing to do.
    public init() {}
}
