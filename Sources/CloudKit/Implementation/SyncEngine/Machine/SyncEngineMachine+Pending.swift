extension SyncEngineMachine {
    mutating func add(
        _ changes: [CKSyncEngine.PendingRecordZoneChange],
        byDelegate: Bool
    ) {
        guard !changes.isEmpty else { return }
        for change in changes {
            var horizon: UInt64?
            if byDelegate, case .consulting(.send(let send)) = phase {
                horizon = send.horizon(of: change, state)
            }
            state.pendingRecordZoneChanges.add(change, horizon: horizon)
        }
        pendingChanged(sends: true)
    }

    /// Records that the delegate's batch is about to request a record.
    mutating func noteReading(of recordID: CKRecord.ID) {
        guard case .consulting(.send(var send)) = phase else { return }
        send.noteReading(of: recordID)
        phase = .consulting(.send(send))
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        var isChanged = false
        for change in changes where state.pendingRecordZoneChanges.remove(change) {
            isChanged = true
        }
        if isChanged { pendingChanged(sends: false) }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        guard !changes.isEmpty else { return }
        for change in changes { state.pendingDatabaseChanges.add(change) }
        pendingChanged(sends: true)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        var isChanged = false
        for change in changes where state.pendingDatabaseChanges.remove(change) {
            isChanged = true
        }
        if isChanged { pendingChanged(sends: false) }
    }

    mutating func setUntrackedChanges(_ isPending: Bool) {
        let isNews = state.hasPendingUntrackedChanges != isPending
        state.hasPendingUntrackedChanges = isPending
        if isNews || isPending { pendingChanged(sends: isPending) }
    }

    private mutating func pendingChanged(sends: Bool) {
        isDirty = true
        if sends { scheduleSend(after: settings.timing.sendDelay) }
    }

    /// Schedules sending, no later than already scheduled.
    mutating func scheduleSend(after wait: Duration) {
        guard settings.automaticallySync else { return }
        let time = moment.now + wait
        schedule.send = min(schedule.send ?? time, time)
    }

    /// Clears the schedule for sending if an operation that sends everything fulfils it.
    mutating func clearScheduledSend(fulfilledBy context: CKSyncEngine.SendChangesContext) {
        if context.options.scope == .all { schedule.send = nil }
    }

    var hasSomethingToSend: Bool {
        !state.pendingDatabaseChanges.isEmpty || !state.pendingRecordZoneChanges.isEmpty
            || state.hasPendingUntrackedChanges
    }
}
