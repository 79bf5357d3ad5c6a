/// What an app gives to its sync engine: the records to send, and a place for what was fetched.
///
/// The engine calls one method at a time and waits for it to return. A method must not await the
/// engine's own `fetchChanges` or `sendChanges`.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Takes an event.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Gives the next records to send, at most 250 items within the context's scope; nil when there
    /// are none.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Says, before each request of a fetch, which zones to fetch and which first.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Leaves the options as they are.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
