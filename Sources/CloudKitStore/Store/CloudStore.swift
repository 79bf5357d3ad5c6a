public import CloudKit
import Foundation
public import GRDB
import Synchronization

/// A store that keeps tables of a GRDB database in sync with CloudKit, and never loses an edit.
///
/// ```swift
/// let store = try CloudStore(
///     database: dbQueue,
///     container: .default(),
///     tables: [.table("department"), .table("employee", encrypted: ["salary"])]
/// )
/// try await store.start()
/// ```
///
/// The app reads and writes its tables as before, with GRDB or plain SQL, in this process or
/// another. Triggers in the file record every write in the writer's own transaction; the store
/// sends the recorded changes, applies those of other devices, and merges the two.
public final class CloudStore: Sendable {
    /// The settings of a store, apart from its tables.
    public typealias Configuration = StoreConfiguration

    /// An engine with its channel.
    struct Side: Sendable {
        let engine: CKSyncEngine
        let channel: EngineChannel
    }

    struct State {
        /// The side of the user's own zone.
        var own: Side?
        /// The side of the shared database, if the configuration includes shared rows.
        var shared: Side?
        /// The channel of the public tables, and its latest sync.
        var publicChannel: PublicChannel?
        var publicSync: Task<SyncSummary, any Error>?

        var sides: [Side] { [own, shared].compactMap(\.self) }
        /// `true` when no error of the file has stopped an engine.
        var isUsable: Bool { sides.allSatisfy { $0.channel.failure == nil } }
        var observation: (any DatabaseCancellable)?
        var isStarted = false
        /// The rows with unsent changes that were lost with the previous file.
        var erased: [RowChange] = []
        /// The task that looks for other processes' changes, and the file version that it saw last.
        var watch: Task<Void, Never>?
        var dataVersion: Int?
        var isPaused = false
        var lastFailure: String?
        var streams: [Int: AsyncStream<RowChange>.Continuation] = [:]
        var statusSignals: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextStream = 0
    }

    let file: StoreFile
    let container: CKContainer
    let database: CKDatabase
    let configuration: Configuration
    let assets: AssetFolder
    let election: SyncElection
    let unsent: UnsentList
    let state: Mutex<State>

    /// Prepares a database for sync: checks the tables, and installs the triggers that track their changes.
    ///
    /// The first sync sends the existing rows. Create the store after the app's migrations have
    /// run, and before the app writes.
    ///
    /// - Parameters:
    ///   - database: The database, opened by the app.
    ///   - container: The container; rows go into its private database.
    ///   - tables: The tables to sync.
    ///   - configuration: The settings of the store, apart from its tables.
    /// - Throws: A ``CloudStoreError`` for a table that cannot be synced as declared, or an error of
    ///   the database.
    public init(
        database: any DatabaseWriter,
        container: CKContainer,
        tables: [SyncedTable],
        configuration: Configuration = Configuration()
    ) throws {
        let (catalog, isNew, readAgain) = try Self.prepare(database, tables, configuration)
        state = Mutex(State(erased: isNew ? UnsentList.rows(of: database) : []))
        unsent = UnsentList(database)
        file = StoreFile(
            writer: database,
            mapping: RowMapping(catalog: catalog),
            zoneID: CKRecordZone.ID(zoneName: configuration.zoneName),
            shareZonePrefix: configuration.shareZonePrefix
        )
        assets = try AssetFolder(beside: database, Self.newDevice())
        self.container = assets.container(container)
        self.database = self.container.privateCloudDatabase
        self.configuration = configuration
        election = SyncElection(database)
        if !readAgain.isEmpty {
            configuration.onEvent(
                .refetchStarted(
                    reason:
                        "The records of the tables \(readAgain.joined(separator: ", ")) were read without "
                        + "their format"
                )
            )
        }
    }

    private static func prepare(
        _ database: any DatabaseWriter,
        _ tables: [SyncedTable],
        _ configuration: Configuration
    ) throws -> (catalog: TableCatalog, isNew: Bool, readAgain: [String]) {
        do {
            return try database.write { database in
                try database.raisePageCacheLimit()
                let (isNew, isUpgraded) = try ControlTables.install(
                    in: database,
                    device: configuration.device ?? newDevice()
                )
                var tables = tables
                if configuration.journal == .shared {
                    try SharedJournal.install(in: database)
                    tables.append(SharedJournal.declaration)
                }
                let catalog = try TableCatalog(reading: database, tables)
                try AppTriggers(database, catalog).check()
                let mapping = RowMapping(catalog: catalog)
                let readAgain = try Reconciliation(database, mapping).run()
                if isUpgraded { try KnownRecord.keepOnce(database, mapping) }
                return (catalog, isNew, readAgain)
            }
        } catch let error as DatabaseError
            where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        {
            throw CloudStoreError(
                .unreadableFile,
                "The database file is damaged (\(error.message ?? "\(error.resultCode)")); restore a "
                    + "backup, or open a new file: all that was sent comes back from the server"
            )
        }
    }

    deinit {
        // Released outside the lock.
        let last = state.withLock { exchange(&$0, with: State()) }
        last.observation?.cancel()
        last.watch?.cancel()
        for stream in last.streams.values { stream.finish() }
        for signal in last.statusSignals.values { signal.finish() }
        assets.remove()
    }

    /// Returns a new name for this file among a user's devices: 10 letters and digits.
    private static func newDevice() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<10).compactMap { _ in letters.randomElement() })
    }

    // MARK: Starting

    /// Starts syncing; from now on the store syncs automatically, unless it is configured not to.
    ///
    /// While another store has the file open and syncs it, this one only tracks changes, which the
    /// other sends; it takes over when the other stops.
    ///
    /// - Throws: An error of the database.
    public func start() async throws {
        let erased = state.withLock { state in
            state.isStarted = true
            return exchange(&state.erased, with: [])
        }
        if !erased.isEmpty { configuration.onEvent(.erased(unsent: erased)) }
        await unsent.start()
        try await engine()
        try await trimJournal()
        for warning in try await warnings() { configuration.onEvent(.warning(warning)) }
        try await checkOtherProcesses()
        watchOtherProcesses()
        guard configuration.syncsAutomatically else { return }
        let observation = TableObserver.observe("grdb_cloudkit_outbox", in: file.writer) {
            [weak self] _ in
            self?.hint()
        }
        state.withLock { $0.observation = observation }
    }

    private func warnings() async throws -> [String] {
        try await file.read { [catalog = file.catalog] database in
            try AppTriggers(database, catalog).warnings()
                + UndecidedIndexes(database: database, catalog: catalog).warnings()
        }
    }

    /// Notifies the engines that changes wait.
    func hint() {
        for side in state.withLock({ $0.sides }) {
            side.engine.state.hasPendingUntrackedChanges = true
        }
        hintPublic()
    }

    /// Stops syncing until the next start; changes are still tracked.
    public func stop() async {
        let watch = state.withLock { state in
            state.isStarted = false
            return exchange(&state.watch, with: nil)
        }
        watch?.cancel()
        // The task could start another engine.
        await watch?.value
        let (sides, observation, publicSync) = state.withLock { state in
            defer {
                state.own = nil
                state.shared = nil
                state.observation = nil
            }
            return (state.sides, state.observation, state.publicSync)
        }
        observation?.cancel()
        await unsent.stop()
        // The call that started it reports its error.
        _ = try? await publicSync?.value
        for side in sides { await side.engine.cancelOperations() }
        // A failure loses nothing: the changes are fetched again.
        for side in sides {
            try? await side.channel.receiver.finish()
            try? await side.channel.sender.finish()
        }
        election.resign()
    }

    /// Stops sending and fetching until ``resume()``; changes are still tracked.
    public func pause() {
        state.withLock { $0.isPaused = true }
        statusChanged()
    }

    /// Ends a pause.
    public func resume() {
        let sides = state.withLock { state in
            state.isPaused = false
            return state.sides
        }
        statusChanged()
        guard configuration.syncsAutomatically else { return }
        hint()
        // Fetches the changes that the server reported meanwhile; the engines retry on failure.
        Task {
            for side in sides { try? await side.engine.fetchChanges() }
        }
    }

    /// Returns the engine; creates one from the file's state when there is none, or when an error
    /// of the file stopped the last.
    ///
    /// Nil when another store syncs the file.
    @discardableResult
    func engine() async throws -> CKSyncEngine? {
        guard try election.lead() else { return nil }
        let existing = state.withLock { $0.isUsable ? $0.own : nil }
        if let existing { return existing.engine }
        try assets.take()
        let control = try await file.control()
        let own = side(.own, database, control.engine)
        let shared =
            configuration.includesSharedRows
            ? side(.shared, container.sharedCloudDatabase, control.sharedEngine) : nil
        // Another call may have created one meanwhile; that engine stays.
        let other = state.withLock { state -> Side? in
            if let other = state.own, state.isUsable { return other }
            state.own = own
            state.shared = shared
            return nil
        }
        if let other { return other.engine }
        try await own.channel.ownZone.add(own.engine)
        if configuration.syncsAutomatically {
            if try await file.hasChanges() { hint() } else { hintPublic() }
        }
        return own.engine
    }

    private func side(_ scope: SyncScope, _ database: CKDatabase, _ serialization: Data?) -> Side {
        let channel = EngineChannel(context(scope, database), folder: assets.url) { [weak self] in
            self?.state.withLock { $0.isPaused } ?? true
        }
        var settings = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: nil,
            delegate: channel
        )
        var problem: String?
        do {
            settings.stateSerialization = try serialization.map {
                try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
            }
        } catch {
            problem = String(describing: error)
        }
        settings.automaticallySync = configuration.syncsAutomatically
        settings.subscriptionID = configuration.subscriptionID
        let engine = CKSyncEngine(settings)
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        problem = problem ?? engine.stateProblem
        #endif
        if let problem { configuration.onEvent(.refetchStarted(reason: problem)) }
        return Side(engine: engine, channel: channel)
    }

    func context(_ scope: SyncScope, _ database: CKDatabase) -> SyncContext {
        SyncContext(
            scope: scope,
            database: database,
            file: file,
            configuration: configuration,
            reporter: SyncReporter(
                onEvent: configuration.onEvent,
                publish: { [weak self] in self?.publish($0) },
                statusChanged: { [weak self] in self?.statusChanged() }
            )
        )
    }

    // MARK: Changes

    /// A stream of the rows that the server changes on this device.
    ///
    /// Each call creates a new stream. A store reports only the changes that it syncs itself; where
    /// another store leads (``isLeading``), `ValueObservation`s report the changed rows.
    public var changes: AsyncStream<RowChange> {
        let (stream, continuation) = AsyncStream<RowChange>.makeStream()
        let id = state.withLock { state in
            state.nextStream += 1
            state.streams[state.nextStream] = continuation
            return state.nextStream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: id) }
        }
        return stream
    }

    func publish(_ changes: [RowChange]) {
        let streams = state.withLock { Array($0.streams.values) }
        for change in changes {
            for stream in streams { stream.yield(change) }
        }
    }
}
