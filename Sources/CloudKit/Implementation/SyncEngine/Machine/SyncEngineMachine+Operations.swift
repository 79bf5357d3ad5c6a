extension SyncEngineMachine {
    // MARK: Beginning

    mutating func start() {
        schedule.identify = moment.now
    }

    /// Begins an operation that is due; returns false if none is.
    mutating func beginOperation() -> Bool {
        let now = moment.now
        if !isAccountKnown {
            let isDue = schedule.identify.map { $0 <= now } ?? false
            guard isDue || !calls.isEmpty else { return false }
            operation = .identify()
            return true
        }
        guard state.account.user != nil else {
            guard calls.isEmpty else {
                failCallsWithoutAccount()
                return true
            }
            return false
        }
        if !calls.isEmpty {
            begin(calls.removeFirst())
        } else if schedule.isDue(schedule.subscribe, at: now) {
            operation = .subscribe()
        } else if schedule.isDue(schedule.fetch, at: now) {
            beginFetch(.init(reason: .scheduled, options: .init()), call: nil)
        } else if schedule.isDue(schedule.send, at: now) {
            beginSend(.init(reason: .scheduled, options: .init()), call: nil)
        } else {
            return false
        }
        return true
    }

    /// The time when something is due again; nil if only a signal can change anything.
    var nextDue: Duration? {
        guard isAccountKnown else { return schedule.identify }
        guard state.account.user != nil else { return nil }
        return schedule.next(of: [schedule.subscribe, schedule.fetch, schedule.send])
    }

    private mutating func begin(_ call: SyncEngineCall) {
        switch call.kind {
        case .fetch(let options):
            beginFetch(.init(reason: .manual, options: options), call: call.id)
        case .send(let options):
            beginSend(.init(reason: .manual, options: options), call: call.id)
        }
    }

    private mutating func beginFetch(
        _ context: CKSyncEngine.FetchChangesContext,
        call: SyncEngineCall.ID?
    ) {
        if context.options.scope == .all { schedule.fetch = nil }
        operation = .fetch(FetchOperation(context, call: call))
    }

    private mutating func beginSend(
        _ context: CKSyncEngine.SendChangesContext,
        call: SyncEngineCall.ID?
    ) {
        let send = SendOperation(context, call: call)
        clearScheduledSend(fulfilledBy: send)
        operation = .send(send)
    }

    // MARK: Ending

    mutating func finishOperation() {
        switch operation {
        case .fetch(let fetch): finish(fetch)
        case .send(let send): finish(send)
        case .identify, .subscribe, nil: break
        }
        operation = nil
        for id in cancellations { actions.append(.finish(id, nil)) }
        cancellations = []
    }

    private mutating func finish(_ fetch: FetchOperation) {
        if let call = fetch.call {
            actions.append(.finish(call, fetch.error ?? fetch.failures.error))
        }
        guard let failure = fetch.transientFailure else {
            schedule.release()
            return
        }
        if repeats(after: failure) { schedule.fetch = moment.now }
    }

    private mutating func finish(_ send: SendOperation) {
        if let call = send.call {
            actions.append(.finish(call, send.errorOfCall))
        }
        if let failure = send.transientFailure {
            if repeats(after: failure) { scheduleSend(after: .zero) }
            return
        }
        schedule.release()
        if send.wasRefused {
            // The batches after the refused one were not requested.
            guard hasSomethingToSend, settings.automaticallySync else { return }
            schedule.send = nil
            scheduleSend(after: schedule.refused(at: moment, settings.timing))
        } else {
            schedule.accepted()
        }
    }

    /// Returns whether the engine itself retries after a transient error; it then waits first.
    private mutating func repeats(after failure: CKError) -> Bool {
        if failure.code == .notAuthenticated { invalidateAccount() }
        guard settings.automaticallySync else { return false }
        hold(failure)
        return true
    }

    mutating func hold(_ error: CKError) {
        schedule.hold(error, at: moment, settings.timing)
    }

    // MARK: Calls

    mutating func failCalls(_ error: CKError) {
        for call in calls { actions.append(.finish(call.id, error)) }
        calls = []
    }

    /// Accepts a call; if no user is signed in, the engine checks again.
    mutating func take(_ call: SyncEngineCall) {
        calls.append(call)
        if isAccountKnown, state.account.user == nil { invalidateAccount() }
    }

    private mutating func failCallsWithoutAccount() {
        failCalls(
            CKError(
                .notAuthenticated,
                message: "No user is signed in; the engine waits for a sign-in"
            )
        )
    }

    mutating func cancel(_ id: SyncEngineCall.ID) {
        if let place = calls.firstIndex(where: { $0.id == id }) {
            calls.remove(at: place)
            actions.append(.finish(id, .stopped("The waiting task was cancelled")))
            return
        }
        switch operation {
        case .fetch(let fetch) where fetch.call == id: stopOperation()
        case .send(let send) where send.call == id: stopOperation()
        default: break
        }
    }

    mutating func cancelAll(_ id: SyncEngineCall.ID) {
        failCalls(.stopped())
        switch operation {
        case .fetch, .send:
            stopOperation()
            cancellations.append(id)
        case .identify, .subscribe, nil: actions.append(.finish(id, nil))
        }
    }

    private mutating func stopOperation() {
        switch operation {
        case .fetch(var fetch):
            fetch.stop(.stopped())
            operation = .fetch(fetch)
        case .send(var send):
            send.stop(.stopped())
            operation = .send(send)
        case .identify, .subscribe, nil: break
        }
        if case .request = outstanding { actions.append(.cancelRequest) }
    }

    mutating func stop() {
        failCalls(.stopped("The engine no longer exists"))
        switch operation {
        case .fetch(let fetch):
            if let id = fetch.call {
                actions.append(.finish(id, .stopped("The engine no longer exists")))
            }
        case .send(let send):
            if let id = send.call {
                actions.append(.finish(id, .stopped("The engine no longer exists")))
            }
        case .identify, .subscribe, nil: break
        }
        for id in cancellations { actions.append(.finish(id, nil)) }
        cancellations = []
        if case .request = outstanding { actions.append(.cancelRequest) }
        listen(false)
        operation = nil
        outbox = []
        isStopped = true
    }

    /// Returns a stopped engine's response.
    func refusal(of signal: SyncEngineSignal) -> [SyncEngineAction] {
        switch signal {
        case .call(let call): [.finish(call.id, .stopped("The engine no longer exists"))]
        case .cancelAll(let id): [.finish(id, nil)]
        default: []
        }
    }
}
