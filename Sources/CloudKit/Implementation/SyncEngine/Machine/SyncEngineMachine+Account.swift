extension SyncEngineMachine {
    /// Handles the identity of the signed-in user.
    mutating func identified(_ response: SyncResponse, isOutdated: Bool) {
        phase = .choosing([], during: nil)
        // The response may be about the user of before.
        guard !isOutdated else { return invalidateAccount() }
        switch response {
        case .user(let user):
            identity = .known
            accountBecame(user)
        case .failure(let error): accountUnknown(error)
        default:
            accountUnknown(CKError(.internalError, message: "The response names no user"))
        }
    }

    private mutating func accountUnknown(_ error: CKError) {
        failCalls(error)
        // Work that only calls start waits for the next call.
        identity = .unknown(due: nil)
        if settings.automaticallySync {
            hold(error)
            identity = .unknown(due: schedule.quietUntil)
        }
    }

    private mutating func accountBecame(_ user: String?) {
        let previous = state.account
        guard user != previous.user else {
            goOn()
            return
        }
        // The first user who signs in receives earlier pending changes; no user receives another
        // one's.
        let isForeign = state.salvagedUser.map { $0 != user } ?? false
        if previous != .unknown || isForeign { state.reset() }
        state.salvagedUser = nil
        state.account = user.map { .user($0) } ?? .signedOut
        // Subscriptions belong to a user.
        state.subscriptionID = nil
        isDirty = true
        let change = change(from: previous, to: user)
        phase = .choosing([.init(.accountChange(.init(changeType: change)))], during: nil)
        goOn()
    }

    private func change(
        from previous: SyncEngineState.Account,
        to user: String?
    ) -> CKSyncEngine.Event.AccountChange.ChangeType {
        let current = user.map { CKRecord.ID(recordName: $0) }
        let last = previous.user.map { CKRecord.ID(recordName: $0) }
        return switch (last, current) {
        case (let last?, let current?): .switchAccounts(previousUser: last, currentUser: current)
        case (let last?, nil): .signOut(previousUser: last)
        case (nil, let current): .signIn(currentUser: current ?? CKRecord.ID(recordName: "_"))
        }
    }

    /// Schedules the operations for the signed-in user.
    private mutating func goOn() {
        guard settings.automaticallySync else { return }
        guard state.account.user != nil else {
            schedule.subscribe = nil
            schedule.fetch = nil
            schedule.send = nil
            listen(false)
            return
        }
        schedule.subscribe = isSubscribed ? nil : moment.now
        // Nobody reported the changes since the last run.
        schedule.fetch = moment.now
        if hasSomethingToSend { scheduleSend(after: .zero) }
        if isSubscribed { listen(true) }
    }

    private var isSubscribed: Bool {
        guard let subscriptionID = state.subscriptionID else { return false }
        return settings.subscriptionID == nil || settings.subscriptionID == subscriptionID
    }

    /// Handles the result of subscribing.
    mutating func subscribed(_ response: SyncResponse) {
        phase = .choosing([], during: nil)
        schedule.subscribe = nil
        switch response {
        case .subscribed(let subscriptionID):
            schedule.release()
            state.subscriptionID = subscriptionID
            isDirty = true
            listen(true)
        case .failure(let error) where error.passes:
            // Due at once, but not before the wait that follows.
            schedule.subscribe = moment.now
            if error.code == .notAuthenticated { invalidateAccount() }
            hold(error)
        case .failure(let error):
            actions.append(.log("no pushes: the database cannot be subscribed to: \(error)"))
        default: actions.append(.log("no pushes: the response names no subscription"))
        }
    }

    mutating func listen(_ isListening: Bool) {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        actions.append(.listen(isListening))
    }

    /// Identifies the account again before anything else.
    mutating func invalidateAccount() {
        identity = .unknown(due: moment.now)
    }

    /// Handles a report of the service.
    mutating func take(_ notice: SyncNotice) {
        switch notice {
        case .databaseChanged:
            guard settings.automaticallySync else { return }
            schedule.fetch = moment.now
            // Whoever sends a push can be reached.
            schedule.endHold()
        case .accountChanged: accountMayHaveChanged()
        }
    }

    private mutating func accountMayHaveChanged() {
        invalidateAccount()
        schedule.endHold()
        if case .identifying = phase {
            phase = .identifying(isOutdated: true)
            actions.append(.cancelRequest)
        }
        stopOperation(.stopped("The account changed while the engine was working"), isVoid: true)
    }
}
