#if !canImport(Darwin) || PORTABLE_CLOUDKIT
public import CloudKit

extension CKSyncEngine {
    /// The reason why the given state could not be used; nil if it could, or if there was none.
    ///
    /// The engine then starts without a state: it keeps the pending changes that can be read,
    /// fetches everything and notifies its delegate of a sign-in. An app that queues changes of its
    /// own should then compare them with `state.pendingRecordZoneChanges`.
    public var stateFailure: String? { stateProblem }
}
#endif
