extension SyncEngineMachine {
    // MARK: Beginning

    mutating func start() {
        guard case .created = phase else { return reject("it was started") }
        identity = .unknown(due: moment.now)
        phase = .idle(wake: nil)
    }

    /// Begins what is due, or waits until something is.
    mutating func begin() {
        let now = moment.now
        switch identity {
        case .unknown(let due):
            let isDue = due.map { $0 <= now } ?? false
            // A call identifies the user even where nothing is scheduled.
            guard isDue || !calls.isEmpty else { return rest() }
            phase = .identifying(isOutdated: false)
            actions.append(.request(.identifyUser, user: nil, group: nil))
        case .known where state.account.user == nil:
            failCallsWithoutAccount()
            rest()
        // The app waits for its calls, and for nothing that is scheduled.
        case .known where !calls.isEmpty: begin(calls.removeFirst())
        // Before the fetch, so that no change falls between the two.
        case .known where schedule.isDue(schedule.subscribe, at: now):
            phase = .subscribing
            let request = SyncRequest.subscribe(settings.subscriptionID)
            actions.append(.request(request, user: state.account.user, group: nil))
        case .known where schedule.isDue(schedule.fetch, at: now):
            beginFetch(.init(reason: .scheduled, options: .init()), call: nil)
        case .known where schedule.isDue(schedule.send, at: now):
            beginSend(.init(reason: .scheduled, options: .init()), call: nil)
        case .known: rest()
        }
    }

    private mutating func rest() { phase = .idle(wake: nextDue) }

    /// The time when something is due again; nil if only a signal can change anything.
    private var nextDue: Duration? {
        switch identity {
        case .unknown(let due): due
        case .known where state.account.user == nil: nil
        case .known: schedule.next(of: [schedule.subscribe, schedule.fetch, schedule.send])
        }
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
        // After a fetch of some zones, the scheduled one of all is still due.
        if context.options.scope == .all { schedule.fetch = nil }
        phase = .choosing([], during: .fetch(FetchOperation(context, call: call)))
    }

    private mutating func beginSend(
        _ context: CKSyncEngine.SendChangesContext,
        call: SyncEngineCall.ID?
    ) {
        clearScheduledSend(fulfilledBy: context)
        phase = .choosing([], during: .send(SendOperation(context, call: call)))
    }

    // MARK: Ending

    mutating func finish(_ operation: SyncEngineOperation) {
        switch operation {
        case .fetch(let fetch): finish(fetch)
        case .send(let send): finish(send)
        }
        for id in operation.cancellations { actions.append(.finish(id, nil)) }
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
        // The user may have signed out without notice.
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
        if case .known = identity, state.account.user == nil { invalidateAccount() }
    }

    private mutating func failCallsWithoutAccount() {
        guard !calls.isEmpty else { return }
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
        if phase.operation?.call == id { stopOperation() }
    }

    mutating func cancelAll(_ id: SyncEngineCall.ID) {
        failCalls(.stopped())
        guard phase.operation != nil else {
            actions.append(.finish(id, nil))
            return
        }
        stopOperation()
        phase.updateOperation { $0.addCancellation(id) }
    }

    /// Ends the operation in progress, if there is one, as soon as its action in flight allows.
    mutating func stopOperation(_ error: CKError = .stopped(), isVoid: Bool = false) {
        phase.updateOperation { $0.stop(error, isVoid: isVoid) }
        if case .requesting = phase { actions.append(.cancelRequest) }
    }

    mutating func stop() {
        let error = CKError.stopped("The engine no longer exists")
        failCalls(error)
        if let operation = phase.operation {
            if let id = operation.call { actions.append(.finish(id, error)) }
            for id in operation.cancellations { actions.append(.finish(id, nil)) }
        }
        switch phase {
        case .identifying, .subscribing, .requesting: actions.append(.cancelRequest)
        default: break
        }
        listen(false)
        if phase.wake != nil { actions.append(.wake(at: nil)) }
        phase = .stopped
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
