import CloudKit
import Foundation
import Support

/// A simulation of many devices of several users against one model of the service, in virtual time: a
/// seed determines edits, calls, faults, crashes and account changes; afterwards, everything must
/// agree.
struct Simulation {
    /// The zone that is never deleted.
    static let lastingZone = "Lasting"
    /// The zone that may be deleted and recreated.
    static let doomedZone = "Doomed"

    enum Event {
        case script(Script)
        case signal(Int, life: Int, SyncEngineSignal)
        case event(Int, life: Int, CKSyncEngine.Event)
        case ask(Int, life: Int, CKSyncEngine.SendChangesContext)
        case arrival(Int, life: Int, request: Int, SyncRequest, user: String?)
        case response(Int, life: Int, request: Int, SyncResponse)
        case push(Int)
        case peace
    }

    let seed: UInt64
    let keepsTrace: Bool
    var chance: SeededRandom
    var cloud: ModelCloud
    var devices: [ModelDevice] = []
    var queue = EventQueue<Event>()
    var now = Duration.zero
    var isPeace = false
    var lastEdit = 0
    var lastNumber = 0
    /// The latest edit of each field of the lasting zone's rows, by user.
    var edits: [String: [CKRecord.ID: [Int]]] = [:]
    var deleted: Set<String> = []
    var problems: [String] = []
    var trace: [String] = []
    var steps = 0
    var requests = 0
    let makesZonesAgain: Bool

    init(seed: UInt64, keepsTrace: Bool = false) {
        self.seed = seed
        self.keepsTrace = keepsTrace
        var chance = SeededRandom(schedule: seed)
        makesZonesAgain = chance.one(of: 2)
        cloud = ModelCloud(pageSize: chance.number(1...6), makesZonesAgain: makesZonesAgain)
        let users = chance.one(of: 3) ? ["ada", "bob"] : ["ada"]
        let count = chance.number(2...5)
        self.chance = chance
        for index in 0..<count {
            let owner = users[index % users.count]
            let app = ModelApp(
                isTracking: self.chance.one(of: 4),
                makesZonesAgain: makesZonesAgain
            )
            let isAutomatic = !self.chance.one(of: 5)
            devices.append(
                ModelDevice(
                    owner: owner,
                    isAutomatic: isAutomatic,
                    app: app,
                    machine: Self.machine(nil, isAutomatic: isAutomatic),
                    account: owner
                )
            )
        }
    }

    static func machine(
        _ saved: CKSyncEngine.State.Serialization?,
        isAutomatic: Bool
    ) -> SyncEngineMachine {
        let (state, _) = SyncEngineState.restored(
            from: saved,
            origin: .init(container: "model", scope: .private)
        )
        return SyncEngineMachine(state: state, settings: .init(automaticallySync: isAutomatic))
    }

    /// Runs everything; `problems` then contains the problems found.
    mutating func run() {
        for index in devices.indices {
            start(index)
            doing(index) { app, tell in
                app.save(zone: Self.lastingZone, tell: tell)
                app.save(zone: Self.doomedZone, tell: tell)
            }
        }
        planScript()
        drain()
        settle()
        checkPeace()
        restartAll()
        checkPeace()
    }

    /// Handles scheduled events until there are none.
    mutating func drain() {
        while problems.isEmpty, let (time, event) = queue.next() {
            now = time
            steps += 1
            if steps > 60_000 || now > .seconds(40_000) {
                problems.append("no end after \(steps) steps and \(now) of virtual time")
                return
            }
            handle(event)
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .script(let script): perform(script)
        case .signal(let index, let life, let signal):
            if devices[index].life == life { tell(index, signal) }
        case .event(let index, let life, let event):
            guard devices[index].life == life else { return }
            // The process may end on either side of every event.
            let diesBefore = !isPeace && chance.one(of: 150)
            let diesAfter = !isPeace && chance.one(of: 150)
            if diesBefore { return perform(.crash(index)) }
            deliver(event, to: index)
            if diesAfter { return perform(.crash(index)) }
            tell(index, .delivered)
        case .ask(let index, let life, let context):
            guard devices[index].life == life else { return }
            let pending = devices[index].machine.state.pendingRecordZoneChanges.elements
            var signals: [SyncEngineSignal] = []
            let batch = devices[index].app.batch(context, pending: pending) { signals.append($0) }
            for signal in signals { tell(index, signal) }
            note("\(index) batch \(batch?.description ?? "none")")
            later(index, .batch(batch), within: 1...20)
        case .arrival(let index, let life, let request, let message, let user):
            arrive(index, life, request, message, user)
        case .response(let index, let life, let request, let response):
            guard devices[index].life == life, devices[index].request == request else { return }
            devices[index].request = nil
            if case .failure(let error) = response, let seconds = error.retryAfterSeconds {
                devices[index].throttledUntil = max(
                    devices[index].throttledUntil,
                    now + .seconds(seconds)
                )
            }
            tell(index, .response(response))
        case .push(let index):
            guard devices[index].isListening else { return }
            if devices[index].isOnline {
                tell(index, .notice(.databaseChanged))
            } else {
                devices[index].hasMissedPush = true
            }
        case .peace: makePeace()
        }
    }

    private mutating func deliver(_ event: CKSyncEngine.Event, to index: Int) {
        note("\(index) \(event)")
        if let problem = devices[index].grammar.take(event) {
            problems.append("device \(index): \(problem)")
        }
        switch event {
        case .willFetchChanges(let event): devices[index].reason = event.context.reason
        case .willSendChanges(let event): devices[index].reason = event.context.reason
        case .didFetchChanges, .didSendChanges: devices[index].reason = .scheduled
        default: break
        }
        doing(index) { app, tell in app.handle(event, tell: tell) }
    }

    /// Performs an action of an app, and passes its signals to its engine.
    mutating func doing(_ index: Int, _ body: (inout ModelApp, ModelApp.Tell) -> Void) {
        var signals: [SyncEngineSignal] = []
        body(&devices[index].app) { signals.append($0) }
        for signal in signals { tell(index, signal) }
    }

    // MARK: Engines

    mutating func start(_ index: Int) {
        tell(index, .start)
    }

    mutating func tell(_ index: Int, _ signal: SyncEngineSignal) {
        let moment = SyncEngineMoment(now: now, chance: chance.fraction())
        for action in devices[index].machine.handle(signal, at: moment) {
            perform(action, index)
        }
    }

    private mutating func perform(_ action: SyncEngineAction, _ index: Int) {
        let life = devices[index].life
        switch action {
        case .deliver(let event):
            queue.add(.event(index, life: life, event), at: now + wait(0...10))
        case .requestBatch(let context):
            queue.add(.ask(index, life: life, context), at: now + wait(0...10))
        case .requestOptions(let context): later(index, .options(options(context)), within: 0...5)
        case .request(let request, let user, _): send(index, request, user)
        case .cancelRequest:
            guard let request = devices[index].request, chance.one(of: 2) else { return }
            let response = SyncResponse.failure(CKError(.operationCancelled))
            queue.add(
                .response(index, life: life, request: request, response),
                at: now + wait(0...5)
            )
        case .wake(let time):
            note("\(index) wake at \(time.map { "\($0)" } ?? "no time")")
            if let time {
                queue.add(.signal(index, life: life, .wake), at: max(time, now))
            }
        case .listen(let isListening):
            devices[index].isListening = isListening
            // A courier request that was just sent may have missed a notification.
            if isListening { queue.add(.push(index), at: now + wait(1...10)) }
        case .finish(let call, let error):
            note("\(index) call \(call) \(error.map { "\($0.code)" } ?? "done")")
            if devices[index].openCalls.remove(call) == nil {
                problems.append("device \(index): call \(call) returned twice")
            }
        case .log: break
        case .reportMistake(let message): problems.append("device \(index): \(message)")
        }
    }

    private mutating func options(
        _ context: CKSyncEngine.FetchChangesContext
    ) -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        if chance.one(of: 4) {
            options.prioritizedZoneIDs = [CKRecordZone.ID(zoneName: Self.doomedZone)]
        }
        return options
    }

    mutating func later(_ index: Int, _ signal: SyncEngineSignal, within range: ClosedRange<Int>) {
        queue.add(.signal(index, life: devices[index].life, signal), at: now + wait(range))
    }

    /// Returns some milliseconds.
    mutating func wait(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(chance.number(range))
    }

    mutating func note(_ text: @autoclosure () -> String) {
        if keepsTrace { trace.append("\(now) \(text())") }
    }
}
