import CloudKit
import Testing

/// A machine whose driver's work is done immediately: closures replace the service and the delegate.
struct MachineBench {
    private(set) var machine: SyncEngineMachine
    private(set) var events: [CKSyncEngine.Event] = []
    private(set) var requests: [SyncRequest] = []
    private(set) var finished: [SyncEngineCall.ID: CKError?] = [:]
    private(set) var logs: [String] = []
    private(set) var wake: Duration?
    private(set) var now = Duration.zero
    private(set) var isListening = false

    /// Returns the response to a request; nil leaves it in flight.
    var response: (SyncRequest) -> SyncResponse?
    /// The response to a request that is cancelled; nil leaves it in flight.
    var answerToCancel: SyncResponse? = .failure(CKError(.operationCancelled))
    var batch: (SyncEngineState) -> CKSyncEngine.RecordZoneChangeBatch? = { state in
        MachineBench.allPending(state)
    }
    /// Returns the delegate's signals before it returns a batch.
    var signalsOfBatch: () -> [SyncEngineSignal] = { [] }
    var options: (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions = {
        $0.options
    }
    /// Returns the delegate's signals while it handles an event.
    var react: (CKSyncEngine.Event) -> [SyncEngineSignal] = { _ in [] }

    init(
        _ state: SyncEngineState = SyncEngineState(),
        isAutomatic: Bool = false,
        response: @escaping (SyncRequest) -> SyncResponse?
    ) {
        machine = SyncEngineMachine(state: state, settings: .init(automaticallySync: isAutomatic))
        self.response = response
    }

    /// The names of the events except the state updates, which follow each event.
    var story: [String] {
        events.compactMap { event in
            if case .stateUpdate = event { return nil }
            return "\(event)".split(separator: " ").first.map(String.init)
        }
    }

    var state: SyncEngineState { machine.state }

    static func allPending(_ state: SyncEngineState) -> CKSyncEngine.RecordZoneChangeBatch? {
        var batch = CKSyncEngine.RecordZoneChangeBatch()
        for change in state.pendingRecordZoneChanges.elements {
            switch change {
            case .saveRecord(let recordID):
                batch.recordsToSave.append(CKRecord(recordType: "Row", recordID: recordID))
            case .deleteRecord(let recordID): batch.recordIDsToDelete.append(recordID)
            }
        }
        return batch.recordsToSave.isEmpty && batch.recordIDsToDelete.isEmpty ? nil : batch
    }

    /// Sends a signal to the machine and performs everything that follows.
    mutating func tell(_ signal: SyncEngineSignal) {
        var signals = [signal]
        while !signals.isEmpty {
            let moment = SyncEngineMoment(now: now, chance: 0.5)
            for action in machine.handle(signals.removeFirst(), at: moment) {
                signals += perform(action)
            }
        }
    }

    private mutating func perform(_ action: SyncEngineAction) -> [SyncEngineSignal] {
        switch action {
        case .deliver(let event):
            events.append(event)
            return react(event) + [.delivered]
        case .requestBatch:
            let signals = signalsOfBatch()
            return signals + [.batch(batch(machine.state))]
        case .requestOptions(let context): return [.options(options(context))]
        case .request(let request, _, _):
            requests.append(request)
            return response(request).map { [.response($0)] } ?? []
        case .cancelRequest: return answerToCancel.map { [.response($0)] } ?? []
        case .wake(let time): wake = time
        case .listen(let isListening): self.isListening = isListening
        case .finish(let id, let error): finished[id] = .some(error)
        case .log(let message): logs.append(message)
        case .reportMistake(let message): Issue.record("\(message)")
        }
        return []
    }

    /// Advances the time until the machine wakes; returns false when it will not.
    mutating func sleep() -> Bool {
        guard let wake else { return false }
        now = max(now, wake)
        self.wake = nil
        tell(.wake)
        return true
    }

    /// Calls and returns the call's error; a specific error when the call did not return.
    mutating func call(_ kind: SyncEngineCall.Kind) -> CKError? {
        let id = finished.count + 1_000
        tell(.call(SyncEngineCall(id: id, kind: kind)))
        return finished[id] ?? CKError(.internalError)
    }
}
