public import CloudKit

extension CloudStore {
    /// What happens to the rows when the zone is gone from the server.
    public enum ZoneLoss: Hashable, Sendable {
        /// Rows that the server had are deleted here; those with unsent edits stay, and are sent
        /// into a new zone.
        case deleteSynced
        /// All rows stay, and are sent into a new zone.
        case upload
        /// All rows stay, and nothing is sent until the app decides.
        case wait
    }

    /// Who has the journal.
    public enum JournalPlace: Hashable, Sendable {
        /// The device that merged, for what it merged.
        case local
        /// All devices of the user: what lost travels in records of the type `StoreJournal`, encrypted,
        /// and what is removed as too old or too much is removed from all.
        case shared
    }

    /// What a store does apart from its tables.
    public struct Configuration: Sendable {
        /// The zone of the records.
        public var zoneName = "CloudKitStore"
        /// Whether rows that other users share with this one come here, below the user's own.
        public var includesSharedRows = false
        /// How long the public tables are not compared with all records of the server, which finds what
        /// was deleted there.
        public var publicSweepInterval: Duration = .seconds(86_400)
        /// The subscription that tells of other devices' changes; nil for the engine's own.
        public var subscriptionID: CKSubscription.ID?
        /// Whether the store syncs by itself: after each save, and when the server tells of changes.
        public var syncsAutomatically = true
        /// Says whether there is a connection; asked before each sync and each batch.
        public var isConnected: @Sendable () -> Bool = { true }
        /// When another device deleted the zone.
        public var whenZoneIsDeleted = ZoneLoss.deleteSynced
        /// When the user deleted the app's data in the settings.
        public var whenZoneIsPurged = ZoneLoss.wait
        /// When the user reset the encrypted data.
        public var whenEncryptedDataIsReset = ZoneLoss.upload
        /// The most records in one request; the service takes 200.
        public var batchLimit = 200 {
            didSet { batchLimit = min(max(1, batchLimit), 200) }
        }
        /// Who has the journal of what lost.
        public var journal = JournalPlace.local
        /// How long the journal keeps what lost a merge, or nil for ever; what is older goes when the
        /// store starts.
        public var journalAge: Duration? = .seconds(90 * 86_400)
        /// The most entries of the journal, or nil for any number; the oldest go when the store starts,
        /// and with each fetch.
        public var journalLimit: Int? = 10_000
        /// How often a store over a file looks for what other processes wrote, and whether it has to
        /// take over from one that ended; nil for never by itself.
        public var otherProcessInterval: Duration? = .seconds(1)
        /// The clock of that interval.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// Hears of every event, after the store has handled it.
        public var onEvent: @Sendable (StoreEvent) -> Void = { _ in }

        /// The file's name among the user's devices; a test that is to run alike twice sets it, and
        /// otherwise chance gives one.
        package var device: String?

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
