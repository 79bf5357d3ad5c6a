public import Foundation

/// The changes that wait, and the reasons.
///
/// ```swift
/// let status = try await store.status
/// for line in status.explanation { print(line) }
/// for row in status.quarantined { print(row.table ?? "unknown table", row.reason) }
/// ```
public struct StoreStatus: Hashable, Sendable {
    /// A condition that keeps the store from syncing until someone resolves it.
    public enum Obstacle: Hashable, Sendable {
        /// The app paused the store, or reported that there is no connection.
        case paused
        /// Nobody is signed in.
        case noAccount
        /// Another user than the owner of the rows is signed in. Open another file for that user,
        /// or call ``CloudStore/adoptAccount()`` to assign the rows to them.
        case accountSwitched
        /// The user deleted the app's data on the server. The rows are still here;
        /// ``CloudStore/uploadEverything()`` sends them again.
        case purged
        /// The zone was destroyed with ``CloudStore/destroyZone()``.
        case zoneDestroyed
        /// The user's storage is full.
        case quotaExceeded
        /// The last request failed; the store retries automatically.
        case failed(String)
    }

    /// A quarantined row or record.
    public struct QuarantinedRow: Hashable, Sendable {
        /// The table, if known.
        public var table: String?
        /// The row's key, if known.
        public var key: String?
        /// The problem and its remedy.
        public var reason: String
    }

    /// A row that has arrived but is hidden, or shows without a reference, until another arrives.
    public struct WaitingRow: Hashable, Sendable {
        /// The table.
        public var table: String
        /// The row's key.
        public var key: String
        /// The name of the awaited record: the record type, a colon and the key; empty if unknown.
        ///
        /// Where that record waits for another one, it is that one's.
        public var recordName: String
        /// `true` when that record has arrived and is quarantined: ``StoreStatus/quarantined`` has the
        /// reason and the remedy.
        public var isTargetQuarantined: Bool
        /// `true` when that record was deleted on this device, and the deletion is not sent.
        public var isTargetDeleted: Bool

        /// The reason why the wait lasts, after "which".
        fileprivate var reason: String {
            if isTargetQuarantined { return "is quarantined" }
            return isTargetDeleted
                ? "is deleted here; the next sync sends that" : "has not arrived"
        }
    }

    /// The condition that keeps the store from syncing.
    public var obstacle: Obstacle?
    /// The number of rows with changes that the server has not acknowledged, without quarantined ones.
    public var waitingToSend: Int
    /// The date of the oldest of these changes.
    public var oldestChange: Date?
    /// The number of records that wait for others before they can be rows.
    public var waitingForParents: Int
    /// Some of the records that wait for others, with the records that they wait for.
    public var waitingRows: [WaitingRow] = []
    /// The number of other users' rows that show without a reference, or not at all where the
    /// column may not be NULL, because the referenced row is not shared with this user.
    public var inaccessibleReferenceCount = 0
    /// Some of these rows, with the records that are not shared.
    public var rowsWithInaccessibleReferences: [WaitingRow] = []
    /// The quarantined rows and records, with their reasons.
    public var quarantined: [QuarantinedRow]
    /// The date on which everything had last been fetched and sent.
    public var lastSync: Date?
    /// The progress of the fetch or send in flight; nil when there is none.
    public var progress: SyncProgress?

    /// The reasons why changes wait, one sentence each; empty when the store is settled.
    ///
    /// ```swift
    /// for line in try await store.status.explanation { print(line) }
    /// ```
    public var explanation: [String] {
        var lines: [String] = []
        if let obstacle { lines.append(obstacle.explanation) }
        if waitingToSend > 0 {
            let since = oldestChange.map { ", the oldest since \($0.formatted(.iso8601))" } ?? ""
            lines.append("\(Self.rows(waitingToSend)) to be sent\(since).")
        }
        for row in waitingRows {
            let what = row.recordName.isEmpty ? "another row" : "the record '\(row.recordName)'"
            lines.append(
                "The row '\(row.key)' of '\(row.table)' waits for \(what), which \(row.reason)."
            )
        }
        if waitingForParents > waitingRows.count {
            lines.append(
                "\(Self.rows(waitingForParents - waitingRows.count)) for others to arrive."
            )
        }
        for row in rowsWithInaccessibleReferences {
            let what = row.recordName.isEmpty ? "a record" : "the record '\(row.recordName)'"
            lines.append(
                "The row '\(row.key)' of '\(row.table)' lacks \(what), which its owner does not share."
            )
        }
        return lines + quarantined.map { "Quarantined: \($0.reason)." }
    }

    private static func rows(_ count: Int) -> String {
        count == 1 ? "1 row waits" : "\(count) rows wait"
    }

    /// A Boolean value that indicates whether the server has all local changes, and this device has
    /// all changes of the last fetch.
    public var isSettled: Bool {
        obstacle == nil && waitingToSend == 0 && waitingForParents == 0 && quarantined.isEmpty
    }
}

extension StoreStatus.Obstacle {
    /// The obstacle and its remedy, in one sentence.
    fileprivate var explanation: String {
        switch self {
        case .paused: "Sync is paused, or there is no connection."
        case .noAccount: "Nobody is signed in; the changes are sent when the user signs in again."
        case .accountSwitched:
            "The signed-in user is not the owner of these rows; nothing is sent to them."
        case .purged:
            "The user deleted the app's data on the server; uploadEverything() sends the rows again."
        case .zoneDestroyed:
            "The zone was destroyed with destroyZone(); uploadEverything() sends the rows again."
        case .quotaExceeded: "The user's storage is full; the next sync tries again."
        case .failed(let reason): "The last sync failed and is tried again: \(reason)"
        }
    }
}

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
