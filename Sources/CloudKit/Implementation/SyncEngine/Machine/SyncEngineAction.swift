/// The actions that the machine requests.
///
/// At most one of the first four is in flight at any time, and its outcome is signaled back.
package enum SyncEngineAction: Sendable {
    /// Deliver an event to the delegate; then signal `delivered`.
    case deliver(CKSyncEngine.Event)
    /// Request the next batch from the delegate; then signal `batch`.
    case requestBatch(CKSyncEngine.SendChangesContext)
    /// Request the next options from the delegate; then signal `options`.
    case requestOptions(CKSyncEngine.FetchChangesContext)
    /// Send a request on behalf of a user, as part of a group; then signal `response`.
    case request(SyncRequest, user: String?, group: CKOperationGroup?)

    /// Cancel the request in flight; its response is still awaited.
    case cancelRequest
    /// Signal `wake` at a time, which replaces an earlier one; nil for never.
    case wake(at: Duration?)
    /// Start or stop signaling the service's own reports.
    case listen(Bool)
    /// Return from a call, with its error.
    case finish(SyncEngineCall.ID, CKError?)
    /// Log that an unexpected condition was tolerated.
    case log(String)
    /// Report a signal that cannot come in the machine's state: trap in debug builds, otherwise log.
    case reportMistake(String)
}

/// The signals that the machine receives.
package enum SyncEngineSignal: Sendable {
    /// The engine was created.
    case start
    /// The engine is being deinitialised: nothing further is to be done.
    case stop
    /// The requested time has come.
    case wake
    /// The service reported something.
    case notice(SyncNotice)

    case delivered
    case batch(CKSyncEngine.RecordZoneChangeBatch?)
    case options(CKSyncEngine.FetchChangesOptions)
    case response(SyncResponse)

    /// The app made a call and waits for `finish`.
    case call(SyncEngineCall)
    /// The task that waits for a call was cancelled.
    case cancel(SyncEngineCall.ID)
    /// The app stops everything; `finish` reports the end.
    case cancelAll(SyncEngineCall.ID)

    /// `byDelegate`: inside one of its methods, so that a batch it creates includes these changes.
    case addRecordChanges([CKSyncEngine.PendingRecordZoneChange], byDelegate: Bool)
    /// The delegate's batch is about to request a record.
    case readingRecord(CKRecord.ID)
    case removeRecordChanges([CKSyncEngine.PendingRecordZoneChange])
    case addDatabaseChanges([CKSyncEngine.PendingDatabaseChange])
    case removeDatabaseChanges([CKSyncEngine.PendingDatabaseChange])
    case untrackedChanges(Bool)
}

/// A call of the app that waits for its end.
package struct SyncEngineCall: Sendable {
    package typealias ID = Int

    package enum Kind: Sendable {
        case fetch(CKSyncEngine.FetchChangesOptions)
        case send(CKSyncEngine.SendChangesOptions)
    }

    package var id: ID
    package var kind: Kind

    package init(id: ID, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}
