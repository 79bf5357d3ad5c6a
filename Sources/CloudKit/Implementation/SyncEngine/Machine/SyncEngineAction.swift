/// What the machine wants done.
///
/// Of the first four at most one is under way at any time, and its outcome comes back as a signal.
package enum SyncEngineAction: Sendable {
    /// Hand an event to the delegate; then signal `delivered`.
    case deliver(CKSyncEngine.Event)
    /// Ask the delegate for the next batch; then signal `batch`.
    case askForBatch(CKSyncEngine.SendChangesContext)
    /// Ask the delegate for the options of the next request; then signal `options`.
    case askForOptions(CKSyncEngine.FetchChangesContext)
    /// Send a request on behalf of a user, as part of a group; then signal `answer`.
    case request(SyncRequest, user: String?, group: CKOperationGroup?)

    /// Cancel the request that is under way; its answer is still waited for.
    case cancelRequest
    /// Signal `wake` at a time, instead of at the time asked for before; nil for never.
    case wake(at: Duration?)
    /// Begin to signal what the service reports by itself, or end it.
    case listen(Bool)
    /// Return from a call, with its error.
    case finish(SyncEngineCall.ID, CKError?)
    /// Write to the log that something unexpected was put up with.
    case log(String)
}

/// What the machine is told.
package enum SyncEngineSignal: Sendable {
    /// The engine was made.
    case start
    /// The engine goes: nothing more is to be done.
    case stop
    /// The time asked for has come.
    case wake
    /// The service reports something.
    case notice(SyncNotice)

    case delivered
    case batch(CKSyncEngine.RecordZoneChangeBatch?)
    case options(CKSyncEngine.FetchChangesOptions)
    case answer(SyncAnswer)

    /// The app calls and waits for `finish`.
    case call(SyncEngineCall)
    /// The app's task that waits for a call was cancelled.
    case cancel(SyncEngineCall.ID)
    /// The app wants everything stopped; `finish` says when it is.
    case cancelAll(SyncEngineCall.ID)

    /// `byDelegate`: inside one of its methods, so that a batch it makes holds these changes.
    case addRecordChanges([CKSyncEngine.PendingRecordZoneChange], byDelegate: Bool)
    /// A record of the batch that the delegate makes is about to be asked for.
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
