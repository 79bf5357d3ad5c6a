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

    /// What keeps the store from syncing.
    public var obstacle: Obstacle?
    /// The number of rows with changes that the server has not acknowledged, without those that
    /// were set aside.
    public var waitingToSend: Int
    /// When the oldest of these changes was made.
    public var oldestChange: Date?
    /// The number of records that wait for others before they can be rows.
    public var waitingToShow: Int
    /// What was set aside, with its reason.
    public var setAside: [SetAside]
    /// When everything had been fetched and sent for the last time.
    public var lastSync: Date?
    /// How far the fetch or the send is that is under way; nil when none is.
    public var progress: SyncProgress?

    /// Whether the server has all that is here, and all that it had at the last fetch is here.
    public var isSettled: Bool {
        obstacle == nil && waitingToSend == 0 && waitingToShow == 0 && setAside.isEmpty
    }
}
