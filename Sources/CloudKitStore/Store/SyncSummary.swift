/// What a sync did.
public struct SyncSummary: Hashable, Sendable {
    /// The rows that the server changed here.
    public var received: [RowChange] = []
    /// The number of records that the server accepted.
    public var saved = 0
    /// The number of records that the server deleted.
    public var deleted = 0

    /// Makes the summary of a sync that had nothing to do.
    public init() {}
}
