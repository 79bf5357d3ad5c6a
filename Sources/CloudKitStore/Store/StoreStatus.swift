public import Foundation

/// What waits, and why.
public struct StoreStatus: Hashable, Sendable {
    /// What keeps the store from syncing until someone does something about it.
    public enum Obstacle: Hashable, Sendable {
        /// The app paused the store, or said that there is no connection.
        case paused
        /// Nobody is signed in.
        case noAccount
        /// Another user is signed in than the one whose rows these are. Open another file for that
        /// user, or call ``CloudStore/adoptAccount()`` to give the rows to them.
        case accountSwitched
        /// The user deleted the app's data on the server. The rows are still here;
        /// ``CloudStore/uploadEverything()`` sends them again.
        case purged
        /// The zone was destroyed with ``CloudStore/destroyZone()``.
        case zoneDestroyed
        /// The user's storage is full.
        case quotaExceeded
        /// The last request failed; the store tries again by itself.
        case failed(String)
    }

    /// A row or record that was set aside.
    public struct SetAside: Hashable, Sendable {
        /// The table, if it is known.
        public var table: String?
        /// The row's key, if it is known.
        public var key: String?
        /// What is wrong, and the remedy.
        public var reason: String
    }

    /// A row that has come and does not show, or shows without a reference, until another has come.
    public struct WaitingRow: Hashable, Sendable {
        /// The table.
        public var table: String
        /// The row's key.
        public var key: String
        /// The name of the record that it waits for: the record type, a colon and the key; empty where
        /// that is not known.
        public var recordName: String
    }

    /// What keeps the store from syncing.
    public var obstacle: Obstacle?
    /// The number of rows with changes that the server has not acknowledged, without those that
    /// were set aside.
    public var waitingToSend: Int
    /// When the oldest of these changes was made.
    public var oldestChange: Date?
    /// The number of records that wait for others before they can be rows.
    public var waitingToShow: Int
    /// Some of the records that wait for others, and what they wait for.
    public var waitingRows: [WaitingRow] = []
    /// The number of other users' rows that show without a reference, or not at all where it may not
    /// be NULL, because what they refer to is not shared with this user.
    public var outOfSight = 0
    /// Some of these rows, and the records that are not shared.
    public var rowsOutOfSight: [WaitingRow] = []
    /// What was set aside, with its reason.
    public var setAside: [SetAside]
    /// When everything had been fetched and sent for the last time.
    public var lastSync: Date?
    /// How far the fetch or the send is that is under way; nil when none is.
    public var progress: SyncProgress?

    /// The reasons why something waits, a sentence for each; none when all is settled.
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
                "The row '\(row.key)' of '\(row.table)' waits for \(what), which has not come."
            )
        }
        if waitingToShow > waitingRows.count {
            lines.append("\(Self.rows(waitingToShow - waitingRows.count)) for others to come.")
        }
        for row in rowsOutOfSight {
            let what = row.recordName.isEmpty ? "a record" : "the record '\(row.recordName)'"
            lines.append(
                "The row '\(row.key)' of '\(row.table)' lacks \(what), which its owner does not share."
            )
        }
        return lines + setAside.map { "Set aside: \($0.reason)." }
    }

    private static func rows(_ count: Int) -> String {
        count == 1 ? "1 row waits" : "\(count) rows wait"
    }

    /// Whether the server has all that is here, and all that it had at the last fetch is here.
    public var isSettled: Bool {
        obstacle == nil && waitingToSend == 0 && waitingToShow == 0 && setAside.isEmpty
    }
}

extension StoreStatus.Obstacle {
    /// The obstacle and what ends it, in a sentence.
    fileprivate var explanation: String {
        switch self {
        case .paused: "Sync is paused, or there is no connection."
        case .noAccount: "Nobody is signed in; the changes are sent when the user signs in again."
        case .accountSwitched:
            "Another user is signed in than the one whose rows these are; nothing is sent to them."
        case .purged:
            "The user deleted the app's data on the server; uploadEverything() sends the rows again."
        case .zoneDestroyed:
            "The zone was destroyed with destroyZone(); uploadEverything() sends the rows again."
        case .quotaExceeded: "The user's storage is full; the next sync tries again."
        case .failed(let reason): "The last sync failed and is tried again: \(reason)"
        }
    }
}
