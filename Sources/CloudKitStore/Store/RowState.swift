public import Foundation

/// The sync state of a row.
public enum RowState: Hashable, Sendable {
    /// The server has the row's current values.
    case synced
    /// The row has changes that the server has not acknowledged; the oldest dates from `since`.
    case waitingToSend(since: Date)
    /// The row's changes are quarantined, for a reason.
    case quarantined(reason: String)
    /// The record has arrived and waits for the named record before it can become a row.
    case waitingForParent(recordName: String)
    /// The store does not know the row.
    case unknown
}
