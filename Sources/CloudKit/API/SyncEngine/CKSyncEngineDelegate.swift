/// The app's side of a sync engine: it provides the records to send and handles events.
///
/// The engine calls one method at a time and waits for it to return. A method must not await the
/// engine's own `fetchChanges` or `sendChanges`.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Returns the next records to send, at most 250 items within the context's scope; nil when
    /// there are none.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Returns, before each request of a fetch, the zones to fetch and the ones to fetch first.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Returns the context's options unchanged.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
