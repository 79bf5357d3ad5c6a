public import CloudKit
import Foundation
public import GRDB
import Synchronization

/// Keeps tables of a GRDB database in sync with CloudKit, and never loses an edit.
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
/// The app reads and writes its tables as ever, with GRDB or plain SQL, in this process or another.
/// Triggers in the file note every write in the writer's own transaction; the store sends what they
/// noted, applies what other devices did, and merges the two.
public final class CloudStore: Sendable {
    struct State {
        var engine: CKSyncEngine?
        var delegate: StoreDelegate?
        var observation: (any DatabaseCancellable)?
        var isPaused = false
        var lastFailure: String?
        var streams: [Int: AsyncStream<RowChange>.Continuation] = [:]
        var nextStream = 0
    }

    let file: StoreFile
    let database: CKDatabase
    let configuration: Configuration
    let folder: URL
    let state = Mutex(State())

    /// Prepares a database for sync: checks the tables, and installs what notes their changes.
    ///
    /// Rows that are there already are sent with the first sync. Make the store after the app's
    /// migrations have run, and before it writes.
    ///
    /// - Parameters:
    ///   - database: The database, opened by the app.
    ///   - container: The container; rows go into its private database.
    ///   - tables: The tables to sync.
    ///   - configuration: What the store does apart from its tables.
    /// - Throws: A ``CloudStoreError`` for a table that cannot be synced as declared, or an error of
    ///   the database.
    public init(
        database: any DatabaseWriter,
        container: CKContainer,
        tables: [SyncedTable],
        configuration: Configuration = Configuration()
    ) throws {
        let catalog = try database.write { database in
            try ControlTables.install(
                in: database,
                device: configuration.device ?? Self.newDevice()
            )
            let catalog = try TableCatalog(reading: database, tables)
            _ = try Reconciliation(
                database,
                RowMapping(catalog: catalog, defect: configuration.defect)
            )
            .run()
            return catalog
        }
        file = StoreFile(
            writer: database,
            mapping: RowMapping(catalog: catalog, defect: configuration.defect),
            zoneID: CKRecordZone.ID(zoneName: configuration.zoneName)
        )
        self.database = container.privateCloudDatabase
        self.configuration = configuration
        folder = FileManager.default.temporaryDirectory
            .appending(path: "CloudKitStore-\(Self.newDevice())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        // Released outside the lock.
        let last = state.withLock { exchange(&$0, with: State()) }
        last.observation?.cancel()
        for stream in last.streams.values { stream.finish() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A name for this file among the devices of a user: 10 letters and digits.
    private static func newDevice() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<10).compactMap { _ in letters.randomElement() })
    }

    // MARK: Starting

    /// Starts syncing: from now on the store does it by itself, unless it is configured not to.
    ///
    /// - Throws: An error of the database.
    public func start() async throws {
        _ = try await engine()
        guard configuration.syncsAutomatically else { return }
        let observation = DatabaseRegionObservation(tracking: Table("cloudkit_outbox"))
            .start(in: file.writer) { _ in
                // The observation ends with the database.
            } onChange: { [weak self] _ in
                self?.state.withLock { $0.engine }?.state.hasPendingUntrackedChanges = true
            }
        state.withLock { $0.observation = observation }
    }

    /// Stops syncing until the next start; changes are noted all the while.
    public func stop() async {
        let (engine, observation) = state.withLock { state in
            defer {
                state.engine = nil
                state.delegate = nil
                state.observation = nil
            }
            return (state.engine, state.observation)
        }
        observation?.cancel()
        await engine?.cancelOperations()
    }

    /// Sends nothing and fetches nothing until ``resume()``; changes are noted all the while.
    public func pause() { state.withLock { $0.isPaused = true } }

    /// Ends a pause.
    public func resume() {
        let engine = state.withLock { state in
            state.isPaused = false
            return state.engine
        }
        if configuration.syncsAutomatically { engine?.state.hasPendingUntrackedChanges = true }
    }

    /// The engine; a new one from what the file holds when there is none, or when an error of the
    /// file stopped the last.
    func engine() async throws -> CKSyncEngine {
        let (existing, delegate) = state.withLock { ($0.engine, $0.delegate) }
        if let existing, delegate?.failure == nil { return existing }
        let control = try await file.control()
        let newDelegate = StoreDelegate(
            file: file,
            configuration: configuration,
            folder: folder,
            isPaused: { [weak self] in self?.state.withLock { $0.isPaused } ?? true },
            publish: { [weak self] in self?.publish($0) }
        )
        var settings = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: control.engine.flatMap {
                try? JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
            },
            delegate: newDelegate
        )
        settings.automaticallySync = configuration.syncsAutomatically
        settings.subscriptionID = configuration.subscriptionID
        let engine = CKSyncEngine(settings)
        state.withLock { state in
            state.engine = engine
            state.delegate = newDelegate
        }
        try await newDelegate.addZone(engine)
        if configuration.syncsAutomatically, try await file.hasChanges() {
            engine.state.hasPendingUntrackedChanges = true
        }
        return engine
    }

    // MARK: Changes

    /// The rows that the server changes here, as they change.
    ///
    /// Each call makes a stream of its own.
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
