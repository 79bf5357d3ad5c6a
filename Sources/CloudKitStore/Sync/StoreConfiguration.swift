public import CloudKit

/// The settings of a store, apart from its tables.
///
/// ```swift
/// var configuration = StoreConfiguration()
/// configuration.includesSharedRows = true
/// configuration.whenZoneIsDeleted = .upload
/// configuration.onEvent = { event in
///     if case .quarantined(let reason) = event { print(reason) }
/// }
/// ```
public struct StoreConfiguration: Sendable {
    /// The treatment of local rows when the zone no longer exists on the server.
    public enum ZoneDeletionPolicy: Hashable, Sendable {
        /// Deletes rows that the server had. Rows with unsent edits stay and are sent into a new zone.
        case deleteSynced
        /// Keeps all rows and sends them into a new zone.
        case upload
        /// Keeps all rows and sends nothing until the app decides.
        case wait
    }

    /// The devices that keep the journal.
    public enum JournalScope: Hashable, Sendable {
        /// The device that merged keeps the entries of its own merges.
        case local
        /// All of the user's devices: entries travel in encrypted records of the type `StoreJournal`.
        /// Entries removed because of their age or number are removed from all devices.
        case shared
    }

    /// The name of the zone that holds the records.
    public var zoneName = "CloudKitStore"
    /// A Boolean value that indicates whether rows that other users share with this one are
    /// synced, in addition to the user's own.
    public var includesSharedRows = false
    /// The interval between comparisons of the public tables with all records of the server,
    /// which find deleted records.
    public var publicSweepInterval: Duration = .seconds(86_400)
    /// The ID of the subscription that reports other devices' changes; nil for the engine's own.
    public var subscriptionID: CKSubscription.ID?
    /// A Boolean value that indicates whether the store syncs automatically: after each save,
    /// and when the server reports changes.
    public var syncsAutomatically = true
    /// A closure that returns whether there is a connection; called before each sync and each batch.
    public var isConnected: @Sendable () -> Bool = { true }
    /// The treatment of local rows after another device deleted the zone.
    public var whenZoneIsDeleted = ZoneDeletionPolicy.deleteSynced
    /// The treatment of local rows after the user deleted the app's data in the settings.
    public var whenZoneIsPurged = ZoneDeletionPolicy.wait
    /// The treatment of local rows after the user reset the encrypted data.
    public var whenEncryptedDataIsReset = ZoneDeletionPolicy.upload
    /// The maximum number of records in one request; the service accepts 200.
    public var batchLimit = 200 {
        didSet { batchLimit = min(max(1, batchLimit), 200) }
    }
    /// The devices that keep the journal of overruled edits.
    public var journal = JournalScope.local
    /// The maximum age of journal entries, or nil for no limit.
    ///
    /// The store deletes older entries when it starts.
    public var journalAge: Duration? = .seconds(90 * 86_400)
    /// The maximum number of journal entries, or nil for no limit.
    ///
    /// The store deletes the oldest when it starts and with each fetch.
    public var journalLimit: Int? = 10_000
    /// The interval at which a store over a file looks for other processes' changes, and for a
    /// syncing process that ended and has to be replaced; nil for never automatically.
    public var otherProcessInterval: Duration? = .seconds(1)
    /// The clock that measures ``otherProcessInterval``.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// A closure that receives every event, after the store has handled it.
    public var onEvent: @Sendable (StoreEvent) -> Void = { _ in }

    /// The prefix of the names of the zones in which the client shares that determines the records' format; nil
    /// for the store's own format.
    package var shareZonePrefix: String?

    /// The file's name among the user's devices.
    ///
    /// A test sets it to get the same run twice; otherwise it is random.
    package var device: String?

    /// Creates a configuration with the defaults.
    public init() {}
}
