public import Foundation

/// Where a row stands.
public enum RowState: Hashable, Sendable {
    /// The server has the row as it is here.
    case synced
    /// The row has changes that the server has not acknowledged, the oldest made at a time.
    case waitingToSend(since: Date)
    /// The row's changes were set aside.
    case setAside(reason: String)
    /// The record is here and waits for the record of a name before it can be a row.
    case waitingForParent(recordName: String)
    /// The store knows nothing of such a row.
    case unknown
}
