import Foundation

/// Keeps an app's records in step with a private or shared database.
///
/// The engine decides when to fetch and when to send; its delegate says what, and is told of
/// everything that happens, one event after the other.
///
/// ```swift
/// final actor Notes: CKSyncEngineDelegate {
///     private var engine: CKSyncEngine?
///
///     func start(_ state: CKSyncEngine.State.Serialization?) {
///         engine = CKSyncEngine(
///             CKSyncEngine.Configuration(
///                 database: CKContainer.default().privateCloudDatabase,
///                 stateSerialization: state, delegate: self))
///     }
///
///     func edited(_ recordID: CKRecord.ID) {
///         engine?.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
///     }
/// }
/// ```
///
/// The delegate is not kept alive, and the engine stops when nothing refers to it any more. Several
/// engines of one process share nothing.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database that the engine keeps the app in step with.
    public let database: CKDatabase

    /// What waits to be sent, and which zones wait to be fetched.
    public let state: CKSyncEngine.State

    let core: SyncEngineCore

    /// Why the state that the engine was given could not be used; nil where it could.
    package var stateProblem: String? { core.stateProblem }

    /// Makes an engine, which starts at once.
    ///
    /// Where the configuration asks for automatic syncing, the engine fetches what changed and
    /// sends what is pending.
    public convenience init(_ configuration: CKSyncEngine.Configuration) {
        self.init(configuration, environment: .live)
    }

    /// Makes an engine in an environment that a test may govern.
    package convenience init(
        _ configuration: CKSyncEngine.Configuration,
        environment: SyncEngineEnvironment
    ) {
        self.init(
            configuration,
            service: DatabaseSyncService(configuration.database, environment: environment),
            environment: environment
        )
    }

    /// Makes an engine over a service, in an environment that a test may govern.
    package init(
        _ configuration: CKSyncEngine.Configuration,
        service: any SyncEngineService,
        environment: SyncEngineEnvironment
    ) {
        database = configuration.database
        core = SyncEngineCore(configuration, environment: environment)
        state = State(core: core)
        core.start(SyncEngineDriver(self, configuration, service: service, core: core))
    }

    deinit {
        core.stop()
    }

    /// Fetches what changed on the server, and returns when the delegate has handled it all.
    ///
    /// - Throws: `CKError` when something could not be fetched: the error of the request, or
    ///   `partialFailure` with the errors of zones. `invalidArguments` when called and awaited
    ///   inside one of the delegate's methods, which could never return; start a `Task` there.
    public func fetchChanges(
        _ options: CKSyncEngine.FetchChangesOptions = .init()
    ) async throws {
        try await core.call(.fetch(options))
    }

    /// Sends what is pending, and returns when the delegate has handled all results.
    ///
    /// After a batch in which something failed no further batch is asked for; what the delegate
    /// adds again goes with the next call.
    ///
    /// - Throws: `CKError` when something could not be sent, although the delegate has handled it:
    ///   the error of the request, or `partialFailure` with the errors of records and zones.
    ///   `invalidArguments` when called and awaited inside one of the delegate's methods, which
    ///   could never return; start a `Task` there.
    public func sendChanges(
        _ options: CKSyncEngine.SendChangesOptions = .init()
    ) async throws {
        try await core.call(.send(options))
    }

    /// Asks what is running to stop, and returns when it has.
    ///
    /// Pending changes stay pending, and calls that wait throw `operationCancelled`. A request that
    /// the server already has may take effect all the same. Inside one of the delegate's methods
    /// it returns without waiting.
    public func cancelOperations() async {
        await core.cancelOperations()
    }

    /// The database and the number of pending changes.
    public var description: String {
        "<CKSyncEngine: database=\(database.databaseScope); \(state.pendingDatabaseChanges.count) "
            + "database and \(state.pendingRecordZoneChanges.count) record changes pending>"
    }
}
