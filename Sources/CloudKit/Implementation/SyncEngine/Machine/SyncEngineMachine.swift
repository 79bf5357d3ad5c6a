/// The rules of a sync engine, as a state machine: signals in, actions out.
///
/// It has no clock, performs no I/O and uses no random numbers; time and jitter come with every
/// signal. The driver executes the actions; a simulation can do the same for many engines together.
///
/// At most one of its main actions (an event, a delegate call, a request) is in flight. After its
/// outcome the next is chosen in this order: a waiting event, the state if it changed, the next
/// step of the running operation, and only then another operation.
package struct SyncEngineMachine: Sendable {
    /// The app's choices when it creates an engine.
    package struct Settings: Sendable {
        package var automaticallySync: Bool
        package var subscriptionID: CKSubscription.ID?
        package var timing: SyncEngineTiming

        package init(
            automaticallySync: Bool = true,
            subscriptionID: CKSubscription.ID? = nil,
            timing: SyncEngineTiming = SyncEngineTiming()
        ) {
            self.automaticallySync = automaticallySync
            self.subscriptionID = subscriptionID
            self.timing = timing
        }
    }

    enum Operation: Sendable {
        case identify(isAsked: Bool = false)
        case subscribe(isAsked: Bool = false)
        case fetch(FetchOperation)
        case send(SendOperation)
    }

    /// The main action whose outcome is awaited.
    enum Outstanding: Sendable {
        case delivery(SyncEngineStep.Change?)
        case question
        case request
    }

    package internal(set) var state: SyncEngineState
    let settings: Settings

    var moment = SyncEngineMoment(now: .zero, chance: 0)
    var actions: [SyncEngineAction] = []
    var outstanding: Outstanding?
    var outbox: [SyncEngineStep.Delivery] = []
    /// `true` when the state has changed since the delegate last received it.
    var isDirty = false
    var operation: Operation?
    var calls: [SyncEngineCall] = []
    /// The calls of `cancelOperations` that wait for the operation to end.
    var cancellations: [SyncEngineCall.ID] = []
    var schedule = SyncEngineSchedule()
    /// `true` when the account has been identified since the last signal that it may have changed.
    var isAccountKnown = false
    /// `true` when another such signal came during the identification.
    var isAccountAskedAgain = false
    var isListening = false
    var isStopped = false
    /// The time of the last `wake` action.
    private var wakeTime: Duration?

    /// Creates the machine of an engine; `start` starts it.
    package init(state: SyncEngineState, settings: Settings) {
        self.state = state
        self.settings = settings
    }

    /// Handles a signal.
    package mutating func handle(
        _ signal: SyncEngineSignal,
        at moment: SyncEngineMoment
    ) -> [SyncEngineAction] {
        guard !isStopped else { return refusal(of: signal) }
        self.moment = moment
        switch signal {
        case .start: start()
        case .stop: stop()
        case .wake: wakeTime = nil
        case .notice(let notice): take(notice)
        case .delivered: delivered()
        case .batch(let batch): take(batch)
        case .options(let options): take(options)
        case .answer(let answer): take(answer)
        case .call(let call): take(call)
        case .cancel(let id): cancel(id)
        case .cancelAll(let id): cancelAll(id)
        case .addRecordChanges(let changes, let byDelegate): add(changes, byDelegate: byDelegate)
        case .readingRecord(let recordID): noteReading(of: recordID)
        case .removeRecordChanges(let changes): remove(changes)
        case .addDatabaseChanges(let changes): add(changes)
        case .removeDatabaseChanges(let changes): remove(changes)
        case .untrackedChanges(let isPending): setUntrackedChanges(isPending)
        }
        advance()
        defer { actions = [] }
        return actions
    }

    // MARK: Going on

    /// Chooses the next actions until one is in flight or nothing is left to do.
    private mutating func advance() {
        while outstanding == nil, !isStopped {
            if !outbox.isEmpty {
                deliver(outbox.removeFirst())
            } else if isDirty {
                isDirty = false
                let serialization = CKSyncEngine.State.Serialization(state)
                deliver(.init(.stateUpdate(.init(stateSerialization: serialization))))
            } else if operation != nil {
                step()
            } else if !beginOperation() {
                break
            }
        }
        sleep()
    }

    private mutating func deliver(_ delivery: SyncEngineStep.Delivery) {
        if let event = delivery.event {
            outstanding = .delivery(delivery.change)
            actions.append(.deliver(event))
        } else if let change = delivery.change {
            apply(change)
        }
    }

    private mutating func delivered() {
        guard case .delivery(let change) = outstanding else { return }
        outstanding = nil
        if let change { apply(change) }
    }

    mutating func apply(_ change: SyncEngineStep.Change) {
        state.apply(change)
        isDirty = true
    }

    /// Queues events for delivery.
    mutating func enqueue(_ deliveries: [SyncEngineStep.Delivery]) {
        outbox += deliveries
    }

    private mutating func step() {
        switch operation {
        case .fetch(var fetch):
            let step = fetch.next(state)
            operation = .fetch(fetch)
            perform(step)
        case .send(var send):
            let step = send.next(state)
            operation = .send(send)
            // Everything scheduled so far is now being requested.
            if case .requestBatch = step { clearScheduledSend(fulfilledBy: send) }
            perform(step)
        case .identify(isAsked: false):
            operation = .identify(isAsked: true)
            perform(.request(.identifyUser))
        case .subscribe(isAsked: false):
            operation = .subscribe(isAsked: true)
            perform(.request(.subscribe(settings.subscriptionID)))
        case .identify, .subscribe, nil: operation = nil
        }
    }

    private mutating func perform(_ step: SyncEngineStep) {
        switch step {
        case .deliver(let deliveries): enqueue(deliveries)
        case .requestBatch(let context):
            outstanding = .question
            actions.append(.requestBatch(context))
        case .requestOptions(let context):
            outstanding = .question
            actions.append(.requestOptions(context))
        case .request(let request):
            outstanding = .request
            let isAboutUser = if case .identifyUser = request { true } else { false }
            let user = isAboutUser ? nil : state.account.user
            actions.append(.request(request, user: user, group: operationGroup))
        case .finish: finishOperation()
        }
    }

    /// The operation group of the running operation's requests.
    private var operationGroup: CKOperationGroup? {
        switch operation {
        case .fetch(let fetch): fetch.options.operationGroup
        case .send(let send): send.context.options.operationGroup
        case .identify, .subscribe, nil: nil
        }
    }

    /// Requests a wake-up for the next due time; none while an action is in flight.
    private mutating func sleep() {
        let time = outstanding == nil && !isStopped ? nextDue : nil
        guard time != wakeTime else { return }
        wakeTime = time
        actions.append(.wake(at: time))
    }

    // MARK: Outcomes

    private mutating func take(_ batch: CKSyncEngine.RecordZoneChangeBatch?) {
        guard case .question = outstanding, case .send(var send) = operation else { return }
        outstanding = nil
        send.take(batch)
        operation = .send(send)
    }

    private mutating func take(_ options: CKSyncEngine.FetchChangesOptions) {
        guard case .question = outstanding, case .fetch(var fetch) = operation else { return }
        outstanding = nil
        let deliveries = fetch.take(options, state)
        operation = .fetch(fetch)
        enqueue(deliveries)
    }

    private mutating func take(_ answer: SyncResponse) {
        guard case .request = outstanding else { return }
        outstanding = nil
        switch operation {
        case .fetch(var fetch):
            let deliveries = fetch.take(answer, state)
            operation = .fetch(fetch)
            enqueue(deliveries)
        case .send(var send):
            let deliveries = send.take(answer, &state)
            operation = .send(send)
            isDirty = true
            enqueue(deliveries)
        case .identify: identified(answer)
        case .subscribe: subscribed(answer)
        case nil: break
        }
    }
}
