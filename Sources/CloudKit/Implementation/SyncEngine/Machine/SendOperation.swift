/// One sending: zones first, then batches of records as the delegate gives them.
///
/// A machine of its own inside the engine's: it is asked for its next step, and told the outcome.
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

    /// Up to which addition the records of a batch hold what was pending.
    private struct Reading {
        /// What was added before the delegate was asked.
        ///
        /// A later edit may be in the batch or not: the delegate may have taken what it makes
        /// records of before any of them was asked for.
        let start: UInt64
        /// The records that were asked for.
        var recordIDs: Set<CKRecord.ID> = []
    }

    /// What one request about zones can hold.
    private static let zonesPerRequest = 200

    /// What one request about records can hold, which is what can be atomic.
    private static let recordsPerRequest = 200

    let context: CKSyncEngine.SendChangesContext
    /// The call that waits for the end; nil for a scheduled sending.
    let call: SyncEngineCall.ID?

    private var phase = Phase.beginning
    /// A zone failed for good: no further zones in this sending, or it might never end.
    private var skipsZones = false
    /// Why the sending was cut short.
    private(set) var error: CKError?
    /// Why no request could be sent at all.
    private var networkError: CKError?
    private(set) var failures = ItemFailures()

    init(
        _ context: CKSyncEngine.SendChangesContext,
        call: SyncEngineCall.ID?
    ) {
        self.context = context
        self.call = call
    }

    /// What the call throws: without a network its error, not one for each item.
    var errorOfCall: CKError? { error ?? networkError ?? failures.error }

    /// What failed and may pass.
    var passingFailure: CKError? {
        failures.longestPassing(with: error)
    }

    /// Whether a batch was refused for what it holds.
    var wasRefused: Bool { error.map { !$0.passes } ?? !failures.isEmpty }

    /// The number for a change that the delegate adds while it makes a batch, if it has one.
    ///
    /// A change that is new belongs to the batch, unless its record was asked for already; one that
    /// was pending may be added again for an edit that the batch does not hold.
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

    /// Notes that a record of a batch is about to be asked for.
    mutating func noteReading(of recordID: CKRecord.ID) {
        guard case .choosingRecords(var reading) = phase else { return }
        reading.recordIDs.insert(recordID)
        phase = .choosingRecords(reading)
    }

    /// Ends the sending as soon as what is under way allows.
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
            return .askForBatch(context)
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

    /// Takes the delegate's batch.
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
                message: "A batch of \(batch.count) items; at most \(Batch.itemLimit) are taken: "
                    + "give the rest with the next batch"
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

    /// Takes the answer to the request that was the last step, and settles what was pending.
    mutating func take(_ answer: SyncAnswer, _ state: inout SyncEngineState) -> [Delivery] {
        switch phase {
        case .sendingZones(let changes, let horizon):
            return zonesSent(changes, answer, horizon, &state)
        case .batch(let batch, let horizon):
            return recordsSent(batch, answer, horizon, &state)
        default: return []
        }
    }

    private mutating func zonesSent(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        _ answer: SyncAnswer,
        _ horizon: UInt64,
        _ state: inout SyncEngineState
    ) -> [Delivery] {
        var saved: [CKRecordZone] = []
        var failed: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
        var deleted: [CKRecordZone.ID] = []
        var undeleted: [CKRecordZone.ID: CKError] = [:]
        for change in changes {
            let outcome = answer.outcome(of: change)
            if isSettled(outcome) {
                state.pendingDatabaseChanges.remove(change, until: horizon)
            }
            switch (change, outcome) {
            case (.saveZone(let zone), .success(let answer)):
                state.noteSending(to: zone.zoneID)
                saved.append(answer ?? zone)
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
        _ answer: SyncAnswer,
        _ horizon: UInt64,
        _ state: inout SyncEngineState
    ) -> [Delivery] {
        if case .failure(let error) = answer, error.isOfNetwork { networkError = error }
        var saved: [CKRecord] = []
        var failed: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
        var deleted: [CKRecord.ID] = []
        var undeleted: [CKRecord.ID: CKError] = [:]
        var hasFailure = false
        for record in batch.recordsToSave {
            let outcome = answer.outcome(of: record)
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
            let outcome = answer.outcome(ofDeleting: recordID)
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
        // What was added again would be sent again, with what made it fail.
        phase = hasFailure ? .ending : .zones
        let event = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: saved,
            failedRecordSaves: failed,
            deletedRecordIDs: deleted,
            failedRecordDeletes: undeleted
        )
        return [Delivery(.sentRecordZoneChanges(event))]
    }

    /// Whether a change is pending no more: it was done, or failed for good.
    private func isSettled(_ outcome: Result<some Any, CKError>) -> Bool {
        guard case .failure(let error) = outcome else { return true }
        return !error.passes
    }
}
