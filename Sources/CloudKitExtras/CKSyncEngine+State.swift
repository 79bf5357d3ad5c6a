#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit

extension CKSyncEngine {
    /// Why the state that the engine was made with could not be used; nil where it could, or where there
    /// was none.
    ///
    /// Such an engine starts afresh: it keeps the pending changes that can be read, fetches everything
    /// and tells its delegate of a sign-in. An app that queues changes of its own compares them with
    /// `state.pendingRecordZoneChanges` then.
    public var stateFailure: String? { stateProblem }
}
#endif
