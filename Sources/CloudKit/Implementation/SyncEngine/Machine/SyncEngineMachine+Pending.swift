extension SyncEngineMachine {
    mutating func add(
        _ changes: [CKSyncEngine.PendingRecordZoneChange],
        byDelegate: Bool
    ) {
        guard !changes.isEmpty else { return }
        for change in changes {
            var horizon: UInt64?
            if byDelegate, case .send(let send) = operation {
                horizon = send.horizon(of: change, state)
            }
            state.pendingRecordZoneChanges.add(change, horizon: horizon)
        }
        pendingChanged(wishes: true)
    }

    /// Notes that a record of the batch that the delegate makes is about to be asked for.
    mutating func noteReading(of recordID: CKRecord.ID) {
        guard case .send(var send) = operation else { return }
        send.noteReading(of: recordID)
        operation = .send(send)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        var isChanged = false
        for change in changes where state.pendingRecordZoneChanges.remove(change) {
            isChanged = true
        }
        if isChanged { pendingChanged(wishes: false) }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        guard !changes.isEmpty else { return }
        for change in changes { state.pendingDatabaseChanges.add(change) }
        pendingChanged(wishes: true)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        var isChanged = false
        for change in changes where state.pendingDatabaseChanges.remove(change) {
            isChanged = true
        }
        if isChanged { pendingChanged(wishes: false) }
    }

    mutating func setUntrackedChanges(_ isPending: Bool) {
        let isNews = state.hasPendingUntrackedChanges != isPending
        state.hasPendingUntrackedChanges = isPending
        if isNews || isPending { pendingChanged(wishes: isPending) }
    }

    private mutating func pendingChanged(wishes: Bool) {
        isDirty = true
        if wishes { wishToSend(after: settings.timing.sendDelay) }
    }

    /// Schedules a sending, not later than one that is scheduled already.
    mutating func wishToSend(after wait: Duration) {
        guard settings.automaticallySync else { return }
        let time = moment.now + wait
        schedule.send = min(schedule.send ?? time, time)
    }

    /// Takes the wish to send as fulfilled where a sending covers everything.
    mutating func forgetSendWish(fulfilledBy send: SendOperation) {
        if send.context.options.scope == .all { schedule.send = nil }
    }

    var hasSomethingToSend: Bool {
        !state.pendingDatabaseChanges.isEmpty || !state.pendingRecordZoneChanges.isEmpty
            || state.hasPendingUntrackedChanges
    }
}
