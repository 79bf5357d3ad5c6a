/// The rules of a sync engine, as a state machine: signals in, actions out.
///
/// It has no clock, performs no I/O and uses no random numbers; time and jitter come with every
/// signal. The driver executes the actions; a simulation can do the same for many engines together.
///
/// At most one of its main actions (an event, a delegate call, a request) is in flight: `phase` says
/// which. After its outcome the next is chosen in this order: a waiting event, the state if it
/// changed, the next step of the running operation, and only then another operation.
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

    /// The machine's knowledge of who is signed in.
    enum Identity: Sendable {
        /// The user is requested at a time, or before the next call.
        case unknown(due: Duration?)
        /// `state.account` is up to date.
        case known
    }

    /// The part that outlives the process.
    package internal(set) var state: SyncEngineState
    let settings: Settings

    var phase = SyncEnginePhase.created
    var identity = Identity.unknown(due: nil)
    var schedule = SyncEngineSchedule()
    /// The calls of the app that have not begun.
    var calls: [SyncEngineCall] = []
    /// `true` when the state has changed since the delegate last received it.
    var isDirty = false
    var isListening = false

    /// The signal's time and jitter, and the actions so far, while it is handled.
    var moment = SyncEngineMoment(now: .zero, chance: 0)
    var actions: [SyncEngineAction] = []

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
        if case .stopped = phase { return refusal(of: signal) }
        self.moment = moment
        switch signal {
        case .start: start()
        case .stop: stop()
        case .wake: woke()
        case .notice(let notice): take(notice)
        case .delivered: delivered()
        case .batch(let batch): take(batch)
        case .options(let options): take(options)
        case .response(let response): take(response)
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

    /// Chooses actions until one is in flight or nothing is due.
    private mutating func advance() {
        let lastWake = phase.wake
        if case .idle = phase { phase = .choosing([], during: nil) }
        while case .choosing(var deliveries, let operation) = phase {
            if !deliveries.isEmpty {
                deliver(deliveries.removeFirst(), then: deliveries, during: operation)
            } else if isDirty {
                // Before the next step, so that after a crash little is repeated.
                isDirty = false
                let serialization = CKSyncEngine.State.Serialization(state)
                let event = CKSyncEngine.Event.stateUpdate(.init(stateSerialization: serialization))
                phase = .choosing([.init(event)], during: operation)
            } else if let operation {
                step(operation)
            } else {
                begin()
            }
        }
        if phase.wake != lastWake { actions.append(.wake(at: phase.wake)) }
    }

    private mutating func deliver(
        _ delivery: SyncEngineStep.Delivery,
        then rest: [SyncEngineStep.Delivery],
        during operation: SyncEngineOperation?
    ) {
        if let event = delivery.event {
            phase = .delivering(delivery.change, then: rest, during: operation)
            actions.append(.deliver(event))
        } else {
            phase = .choosing(rest, during: operation)
            if let change = delivery.change { apply(change) }
        }
    }

    private mutating func apply(_ change: SyncEngineStep.Change) {
        state.apply(change)
        isDirty = true
    }

    private mutating func step(_ operation: SyncEngineOperation) {
        var operation = operation
        switch operation.next(state) {
        case .deliver(let deliveries): phase = .choosing(deliveries, during: operation)
        case .requestBatch(let context):
            // Everything scheduled so far is now being requested.
            clearScheduledSend(fulfilledBy: context)
            phase = .consulting(operation)
            actions.append(.requestBatch(context))
        case .requestOptions(let context):
            phase = .consulting(operation)
            actions.append(.requestOptions(context))
        case .request(let request):
            phase = .requesting(operation)
            actions.append(.request(request, user: state.account.user, group: operation.group))
        case .finish:
            finish(operation)
            phase = .choosing([], during: nil)
        }
    }

    // MARK: Outcomes

    private mutating func woke() {
        if case .idle = phase { phase = .idle(wake: nil) }
    }

    private mutating func delivered() {
        guard case .delivering(let change, let rest, let operation) = phase else {
            return reject("an event was handled")
        }
        phase = .choosing(rest, during: operation)
        if let change { apply(change) }
    }

    private mutating func take(_ batch: CKSyncEngine.RecordZoneChangeBatch?) {
        guard case .consulting(.send(var send)) = phase else { return reject("a batch came") }
        send.take(batch)
        phase = .choosing([], during: .send(send))
    }

    private mutating func take(_ options: CKSyncEngine.FetchChangesOptions) {
        guard case .consulting(.fetch(var fetch)) = phase else { return reject("options came") }
        let deliveries = fetch.take(options, state)
        phase = .choosing(deliveries, during: .fetch(fetch))
    }

    private mutating func take(_ response: SyncResponse) {
        switch phase {
        case .identifying(let isOutdated): identified(response, isOutdated: isOutdated)
        case .subscribing: subscribed(response)
        case .requesting(.fetch(var fetch)):
            let deliveries = fetch.take(response, state)
            phase = .choosing(deliveries, during: .fetch(fetch))
        case .requesting(.send(var send)):
            let deliveries = send.take(response, &state)
            isDirty = true
            phase = .choosing(deliveries, during: .send(send))
        default: reject("a response came")
        }
    }

    /// Reports a signal that cannot come in this state, and ignores it.
    mutating func reject(_ signal: String) {
        actions.append(.reportMistake("\(signal) while the engine was \(phase)"))
    }
}

extension SyncEngineMachine: CustomStringConvertible {
    /// The name of the machine's state.
    package var description: String { "\(phase)" }
}
