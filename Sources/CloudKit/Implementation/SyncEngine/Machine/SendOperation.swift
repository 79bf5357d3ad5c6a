/// One operation that sends changes: zones first, then the delegate's batches of records.
///
/// A state machine inside the engine's, which requests the next step and reports the outcome.
struct SendOperation {
    typealias Delivery = SyncEngineStep.Delivery
    typealias Batch = CKSyncEngine.RecordZoneChangeBatch

    private enum Phase {
        case beginning
        case zones
        case sendingZones([CKSyncEngine.PendingDatabaseChange], horizon: UInt64)
        case records
        case choosingRecords(Reading)
        case batch(Batch, horizon: UInt64)
        case ending
        case ended
    }

    /// The additions to the pending changes that a batch's records include.
    private struct Reading {
        /// The latest addition before the delegate was called.
        ///
        /// A later edit may be in the batch or not: the delegate may have read the data of its
        /// records before any of them was requested.
        let start: UInt64
        /// The requested records.
        var recordIDs: Set<CKRecord.ID> = []
    }

    /// The maximum number of zones in one request.
    private static let zonesPerRequest = 200

    /// The maximum number of records in one request, and therefore in an atomic one.
    private static let recordsPerRequest = 200

    let context: CKSyncEngine.SendChangesContext
    /// The call that waits for the end; nil for a scheduled operation.
    let call: SyncEngineCall.ID?
    /// The calls of `cancelOperations` that wait for the end.
    var cancellations: [SyncEngineCall.ID] = []

    private var phase = Phase.beginning
    /// `true` after a zone failed permanently: the operation sends no further zones, or it might
    /// never end.
    private var skipsZones = false
    /// The error that ended the operation early.
    private(set) var error: CKError?
    /// The error that kept all requests from being sent.
    private var networkError: CKError?
    private(set) var failures = ItemFailures()

    init(
        _ context: CKSyncEngine.SendChangesContext,
        call: SyncEngineCall.ID?
    ) {
        self.context = context
        self.call = call
    }

    /// The error that the call throws: without a network that error, not one for each item.
    var errorOfCall: CKError? { error ?? networkError ?? failures.error }

    /// The error that is transient.
    var transientFailure: CKError? {
        failures.longestTransient(with: error)
    }

    /// `true` when a batch was refused because of its contents.
    var wasRefused: Bool { error.map { !$0.passes } ?? !failures.isEmpty }

    /// Returns the number for a change that the delegate adds while it creates a batch, if it has
    /// one.
    ///
    /// A new change belongs to the batch, unless its record has already been requested; a pending
    /// change may be added again for an edit that is not in the batch.
    func horizon(
        of change: CKSyncEngine.PendingRecordZoneChange,
        _ state: SyncEngineState
    ) -> UInt64? {
        guard case .choosingRecords(let reading) = phase,
            !reading.recordIDs.contains(change.recordID),
            !state.pendingRecordZoneChanges.contains(change)
        else { return nil }
        return reading.start
    }

    /// Records that a record of a batch is about to be requested.
    mutating func noteReading(of recordID: CKRecord.ID) {
        guard case .choosingRecords(var reading) = phase else { return }
        reading.recordIDs.insert(recordID)
        phase = .choosingRecords(reading)
    }

    /// Ends the operation as soon as the request in flight allows.
    mutating func stop(_ error: CKError) {
        switch phase {
        case .ending, .ended: break
        default: self.error = self.error ?? error
        }
    }

    // MARK: Steps

    mutating func next(_ state: SyncEngineState) -> SyncEngineStep {
        switch phase {
        case .beginning:
            phase = .zones
            return .deliver([Delivery(.willSendChanges(.init(context: context)))])
        case .zones where error == nil: return nextZones(state)
        case .records where error == nil:
            phase = .choosingRecords(Reading(start: state.pendingRecordZoneChanges.horizon))
            return .requestBatch(context)
        case .batch(let batch, _) where error == nil: return .request(.modifyRecords(batch))
        case .ended: return .finish
        default:
            phase = .ended
            return .deliver([Delivery(.didSendChanges(.init(context: context)))])
        }
    }

    private mutating func nextZones(_ state: SyncEngineState) -> SyncEngineStep {
        let changes =
            skipsZones
            ? []
            : state.pendingDatabaseChanges.prefix(Self.zonesPerRequest) {
                context.options.scope.contains($0)
            }
        guard !changes.isEmpty else {
            phase = .records
            return next(state)
        }
        phase = .sendingZones(changes, horizon: state.pendingDatabaseChanges.horizon)
        var saving: [CKRecordZone] = []
        var deleting: [CKRecordZone.ID] = []
        for change in changes {
            switch change {
            case .saveZone(let zone): saving.append(zone)
            case .deleteZone(let zoneID): deleting.append(zoneID)
            }
        }
        return .request(.modifyZones(saving: saving, deleting: deleting))
    }

    // MARK: Outcomes

    /// Accepts the delegate's batch.
    mutating func take(_ batch: Batch?) {
        guard case .choosingRecords(let reading) = phase, let batch, batch.count > 0 else {
            phase = .ending
            return
        }
        do {
            try check(batch)
            phase = .batch(
                batch.withinOneRequest(Self.recordsPerRequest),
                horizon: reading.start
            )
        } catch {
            self.error = error
            phase = .ending
        }
    }

    private func check(_ batch: Batch) throws(CKError) {
        guard batch.count <= Batch.itemLimit else {
            throw CKError(
                .limitExceeded,
                message: "A batch of \(batch.count) items; the limit is \(Batch.itemLimit): "
                    + "return the rest with the next batch"
            )
        }
        let scope = context.options.scope
        let recordIDs = batch.recordsToSave.map(\.recordID) + batch.recordIDsToDelete
        if let stranger = recordIDs.first(where: { !scope.contains($0) }) {
            throw CKError(
                .invalidArguments,
                message: "The batch holds \(stranger), which is outside the scope of the sending "
                    + "(\(scope)): filter pending changes by context.options.scope"
            )
        }
    }

    /// Handles the response to the last step's request, and settles the pending changes.
    mutating func take(_ response: SyncResponse, _ state: inout SyncEngineState) -> [Delivery] {
        switch phase {
        case .sendingZones(let changes, let horizon):
            return zonesSent(changes, response, horizon, &state)
        case .batch(let batch, let horizon):
            return recordsSent(batch, response, horizon, &state)
        default:
            assertionFailure("a response came although the send had requested nothing")
            return []
        }
    }

    private mutating func zonesSent(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        _ response: SyncResponse,
        _ horizon: UInt64,
        _ state: inout SyncEngineState
    ) -> [Delivery] {
        var saved: [CKRecordZone] = []
        var failed: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
        var deleted: [CKRecordZone.ID] = []
        var undeleted: [CKRecordZone.ID: CKError] = [:]
        for change in changes {
            let outcome = response.outcome(of: change)
            // What was added again since the request was created is another change.
            if isSettled(outcome) {
                state.pendingDatabaseChanges.remove(change, until: horizon)
            }
            switch (change, outcome) {
            case (.saveZone(let zone), .success(let response)):
                state.noteSending(to: zone.zoneID)
                saved.append(response ?? zone)
            case (.saveZone(let zone), .failure(let error)):
                failed.append(.init(zone: zone, error: error))
            case (.deleteZone(let zoneID), .success):
                state.forget(zoneID)
                deleted.append(zoneID)
            case (.deleteZone(let zoneID), .failure(let error)): undeleted[zoneID] = error
            }
            if case .failure(let error) = outcome {
                failures.add(error, of: change.zoneID)
                skipsZones = true
                if error.concernsAllZones { self.error = self.error ?? error }
            }
        }
        phase = .zones
        let event = CKSyncEngine.Event.SentDatabaseChanges(
            savedZones: saved,
            failedZoneSaves: failed,
            deletedZoneIDs: deleted,
            failedZoneDeletes: undeleted
        )
        return [Delivery(.sentDatabaseChanges(event))]
    }

    private mutating func recordsSent(
        _ batch: Batch,
        _ response: SyncResponse,
        _ horizon: UInt64,
        _ state: inout SyncEngineState
    ) -> [Delivery] {
        if case .failure(let error) = response, error.isOfNetwork { networkError = error }
        var saved: [CKRecord] = []
        var failed: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        var deleted: [CKRecord.ID] = []
        var undeleted: [CKRecord.ID: CKError] = [:]
        var hasFailure = false
        for record in batch.recordsToSave {
            let outcome = response.outcome(of: record)
            if isSettled(outcome) {
                let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(record.recordID)
                state.pendingRecordZoneChanges.remove(change, until: horizon)
            }
            switch outcome {
            case .success(let record):
                state.noteSending(to: record.recordID.zoneID)
                saved.append(record)
            case .failure(let error):
                failed.append(.init(record: record, error: error))
                failures.add(error, of: record.recordID)
                hasFailure = true
            }
        }
        for recordID in batch.recordIDsToDelete {
            let outcome = response.outcome(ofDeleting: recordID)
            if isSettled(outcome) {
                let change = CKSyncEngine.PendingRecordZoneChange.deleteRecord(recordID)
                state.pendingRecordZoneChanges.remove(change, until: horizon)
            }
            switch outcome {
            case .success: deleted.append(recordID)
            case .failure(let error):
                undeleted[recordID] = error
                failures.add(error, of: recordID)
                hasFailure = true
            }
        }
        // Changes that were added again would be sent again, with the cause of the failure.
        phase = hasFailure ? .ending : .zones
        let event = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: saved,
            failedRecordSaves: failed,
            deletedRecordIDs: deleted,
            failedRecordDeletes: undeleted
        )
        return [Delivery(.sentRecordZoneChanges(event))]
    }

    /// Returns whether a change is no longer pending: it succeeded, or failed permanently.
    private func isSettled(_ outcome: Result<some Any, CKError>) -> Bool {
        guard case .failure(let error) = outcome else { return true }
        return !error.passes
    }
}
