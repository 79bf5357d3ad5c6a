extension SyncEngineMachine {
    /// Takes in who is signed in.
    mutating func identified(_ answer: SyncAnswer) {
        operation = nil
        if isAccountAskedAgain {
            isAccountAskedAgain = false
            schedule.identify = moment.now
            return
        }
        switch answer {
        case .user(let user):
            isAccountKnown = true
            schedule.identify = nil
            accountBecame(user)
        case .failure(let error): accountUnknown(error)
        default:
            accountUnknown(CKError(.internalError, message: "The answer names no user"))
        }
    }

    private mutating func accountUnknown(_ error: CKError) {
        failCalls(error)
        // What only calls set going waits for the next one.
        schedule.identify = nil
        if settings.automaticallySync {
            hold(error)
            schedule.identify = schedule.quietUntil
        }
    }

    private mutating func accountBecame(_ user: String?) {
        let previous = state.account
        guard user != previous.user else {
            goOn()
            return
        }
        // Whoever signs in first gets what was made before; nobody gets what another user made.
        let isForeign = state.salvagedUser.map { $0 != user } ?? false
        if previous != .unknown || isForeign { state.reset() }
        state.salvagedUser = nil
        state.account = user.map { .user($0) } ?? .signedOut
        state.subscriptionID = nil
        isDirty = true
        outbox.append(.init(.accountChange(.init(changeType: change(from: previous, to: user)))))
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

    /// Plans what there is to do for the user who is signed in.
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
        schedule.fetch = moment.now
        if hasSomethingToSend { wishToSend(after: .zero) }
        if isSubscribed { listen(true) }
    }

    private var isSubscribed: Bool {
        guard let subscriptionID = state.subscriptionID else { return false }
        return settings.subscriptionID == nil || settings.subscriptionID == subscriptionID
    }

    /// Takes in how the subscription went.
    mutating func subscribed(_ answer: SyncAnswer) {
        operation = nil
        schedule.subscribe = nil
        switch answer {
        case .subscribed(let subscriptionID):
            schedule.release()
            state.subscriptionID = subscriptionID
            isDirty = true
            listen(true)
        case .failure(let error) where error.passes:
            schedule.subscribe = moment.now
            if error.code == .notAuthenticated { doubtAccount() }
            hold(error)
        case .failure(let error):
            actions.append(.log("no pushes: the database cannot be subscribed to: \(error)"))
        default: actions.append(.log("no pushes: the answer names no subscription"))
        }
    }

    mutating func listen(_ isListening: Bool) {
        guard isListening != self.isListening else { return }
        self.isListening = isListening
        actions.append(.listen(isListening))
    }

    /// Learns the account anew before anything else.
    mutating func doubtAccount() {
        isAccountKnown = false
        schedule.identify = moment.now
    }

    /// Takes in what the service reports.
    mutating func take(_ notice: SyncNotice) {
        switch notice {
        case .databaseChanged:
            guard settings.automaticallySync else { return }
            schedule.fetch = moment.now
            schedule.hope()
        case .accountChanged: accountMayHaveChanged()
        }
    }

    private mutating func accountMayHaveChanged() {
        doubtAccount()
        schedule.hope()
        let error = CKError.stopped("The account changed while the engine was at work")
        switch operation {
        case .fetch(var fetch):
            fetch.stop(error, isVoid: true)
            operation = .fetch(fetch)
        case .send(var send):
            send.stop(error)
            operation = .send(send)
        case .identify: isAccountAskedAgain = true
        case .subscribe, nil: return
        }
        if case .request = outstanding { actions.append(.cancelRequest) }
    }
}
