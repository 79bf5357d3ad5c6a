/// All rules of a sync engine: signals in, actions out.
///
/// It has no clock, does no input or output and draws no lots; time and chance come with every
/// signal. The driver carries actions out; a simulation can do the same for many engines at once.
///
/// At most one of its main actions (an event, a question to the delegate, a request) is under way.
/// When its outcome is in, the next is chosen in this order: an event that waits, the state if it
/// changed, the next step of the operation that runs, and only then another operation.
package struct SyncEngineMachine: Sendable {
    /// What an app chooses when it makes an engine.
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

    /// What the outcome of is awaited.
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
    /// Whether the state changed since the delegate last had it.
    var isDirty = false
    var operation: Operation?
    var calls: [SyncEngineCall] = []
    /// The calls of `cancelOperations` that wait for the operation to end.
    var cancellations: [SyncEngineCall.ID] = []
    var schedule = SyncEngineSchedule()
    /// Whether the account was learnt since the last sign that it may be another.
    var isAccountKnown = false
    /// A notice that the account may be another came while it was being learnt.
    var isAccountAskedAgain = false
    var isListening = false
    var isStopped = false
    /// The time that the last `wake` action named.
    private var wakeTime: Duration?

    /// Makes the machine of an engine; `start` sets it going.
    package init(state: SyncEngineState, settings: Settings) {
        self.state = state
        self.settings = settings
    }

    /// Takes a signal.
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

    /// Chooses what to do next, until something is under way or nothing is to be done.
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

    /// Takes events over for delivery.
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
            // What was wished up to here is asked for now.
            if case .askForBatch = step { forgetSendWish(fulfilledBy: send) }
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
        case .askForBatch(let context):
            outstanding = .question
            actions.append(.askForBatch(context))
        case .askForOptions(let context):
            outstanding = .question
            actions.append(.askForOptions(context))
        case .request(let request):
            outstanding = .request
            let isAboutUser = if case .identifyUser = request { true } else { false }
            let user = isAboutUser ? nil : state.account.user
            actions.append(.request(request, user: user, group: operationGroup))
        case .finish: finishOperation()
        }
    }

    /// What the requests of the operation that runs belong to.
    private var operationGroup: CKOperationGroup? {
        switch operation {
        case .fetch(let fetch): fetch.options.operationGroup
        case .send(let send): send.context.options.operationGroup
        case .identify, .subscribe, nil: nil
        }
    }

    /// Asks to be woken for what is due next; not at all while something is under way.
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

    private mutating func take(_ answer: SyncAnswer) {
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
