import Foundation

/// An engine that syncs an app's records with a private or shared database.
///
/// The engine decides when to fetch and when to send; its delegate provides the changes to send and
/// handles the events, one after the other.
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
/// The engine holds its delegate weakly, and stops when nothing refers to the engine any longer.
/// Several engines in one process share nothing.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database that the engine syncs with.
    public let database: CKDatabase

    /// The changes to send and the zones to fetch.
    public let state: CKSyncEngine.State

    let core: SyncEngineCore

    /// The reason why the given state could not be used; nil if it could.
    package var stateProblem: String? { core.stateProblem }

    /// Creates an engine, which starts immediately.
    ///
    /// With automatic syncing, the engine fetches the server's changes and sends the pending ones.
    public convenience init(_ configuration: CKSyncEngine.Configuration) {
        self.init(configuration, environment: .live)
    }

    /// Creates an engine in an environment that a test can control.
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

    /// Creates an engine on a service, in an environment that a test can control.
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

    /// Fetches the changes on the server, and returns when the delegate has handled them all.
    ///
    /// - Throws: `CKError` when something could not be fetched: the error of the request, or
    ///   `partialFailure` with the errors of zones. `invalidArguments` when awaited inside one of
    ///   the delegate's methods, because the call could never return; start a `Task` there.
    public func fetchChanges(
        _ options: CKSyncEngine.FetchChangesOptions = .init()
    ) async throws {
        try await core.call(.fetch(options))
    }

    /// Sends the pending changes, and returns when the delegate has handled all results.
    ///
    /// After a batch in which an item failed, no further batch is requested; changes that the
    /// delegate adds again are sent with the next call.
    ///
    /// - Throws: `CKError` when something could not be sent, although the delegate has handled it:
    ///   the error of the request, or `partialFailure` with the errors of records and zones.
    ///   `invalidArguments` when awaited inside one of the delegate's methods, because the call
    ///   could never return; start a `Task` there.
    public func sendChanges(
        _ options: CKSyncEngine.SendChangesOptions = .init()
    ) async throws {
        try await core.call(.send(options))
    }

    /// Cancels the running operations, and returns when they have stopped.
    ///
    /// Pending changes stay pending, and waiting calls throw `operationCancelled`. A request that
    /// the server has already received may still take effect. Inside one of the delegate's methods
    /// this returns without waiting.
    public func cancelOperations() async {
        await core.cancelOperations()
    }

    /// A textual representation with the database and the number of pending changes.
    public var description: String {
        "<CKSyncEngine: database=\(database.databaseScope); \(state.pendingDatabaseChanges.count) "
            + "database and \(state.pendingRecordZoneChanges.count) record changes pending>"
    }
}
