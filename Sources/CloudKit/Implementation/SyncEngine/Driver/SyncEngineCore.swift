import Foundation
import Synchronization

/// The owner of an engine's machine: it accepts signals from any thread, and the driver executes
/// the resulting actions in order.
final class SyncEngineCore: Sendable {
    private struct Contents {
        var machine: SyncEngineMachine
        var calls: [SyncEngineCall.ID: CheckedContinuation<CKError?, Never>] = [:]
        var lastCall = 0
    }

    /// The reason why the given state could not be used; nil if it could.
    let stateProblem: String?
    private let contents: Mutex<Contents>
    private let environment: SyncEngineEnvironment
    private let actions: AsyncStream<SyncEngineAction>
    private let carryOut: AsyncStream<SyncEngineAction>.Continuation

    init(_ configuration: CKSyncEngine.Configuration, environment: SyncEngineEnvironment) {
        self.environment = environment
        (actions, carryOut) = AsyncStream.makeStream()
        let (state, problem) = SyncEngineState.restored(
            from: configuration.stateSerialization,
            origin: SyncEngineState.Origin(
                container: configuration.database.baseRequests.connection.containerName,
                scope: configuration.database.databaseScope
            )
        )
        stateProblem = problem
        if let problem { environment.log("\(problem); everything is fetched from the beginning") }
        let machine = SyncEngineMachine(
            state: state,
            settings: .init(
                automaticallySync: configuration.automaticallySync,
                subscriptionID: configuration.subscriptionID,
                timing: environment.timing
            )
        )
        contents = Mutex(Contents(machine: machine))
    }

    /// Starts the engine.
    func start(_ driver: SyncEngineDriver) {
        let actions = actions
        // The task ends when `stop` ends the stream.
        Task(executorPreference: environment.executor) { await driver.run(actions) }
        signal(.start)
    }

    /// Ends everything; waiting calls return.
    func stop() {
        signal(.stop)
        carryOut.finish()
    }

    /// Passes a signal to the machine, and queues the resulting actions.
    func signal(_ signal: SyncEngineSignal) {
        let finished = contents.withLock { contents in
            var finished: [(call: CheckedContinuation<CKError?, Never>, error: CKError?)] = []
            // Inside the lock, so that signals are handled in the order of their times.
            let moment = SyncEngineMoment(now: environment.now(), chance: environment.chance())
            for action in contents.machine.handle(signal, at: moment) {
                guard case .finish(let id, let error) = action else {
                    carryOut.yield(action)
                    continue
                }
                if let call = contents.calls.removeValue(forKey: id) {
                    finished.append((call, error))
                }
            }
            return finished
        }
        // Here and not by the driver, which has ended once the engine is stopped; and outside the lock, because a task
        // that is cancelled holds its own one, which resuming needs, while its handler waits for this one.
        for (call, error) in finished { call.resume(returning: error) }
    }

    func read<Value>(_ body: (SyncEngineMachine) -> Value) -> Value {
        contents.withLock { body($0.machine) }
    }

    /// The executor of the engine's tasks.
    var executor: (any TaskExecutor)? { environment.executor }

    func log(_ message: String) { environment.log(message) }

    func reportMistake(_ message: String) { environment.reportMistake(message) }

    func sleep(until time: Duration) async throws { try await environment.sleep(time) }

    // MARK: Calls

    /// Calls the engine, and waits until the call has finished.
    func call(_ kind: SyncEngineCall.Kind) async throws(CKError) {
        guard !isInsideDelegate else {
            throw CKError(
                .invalidArguments,
                message: "fetchChanges and sendChanges cannot be awaited inside a method of the "
                    + "engine's delegate, because they return only after it: call them in a Task, "
                    + "or add pending changes and let the engine send them"
            )
        }
        if let error = await wait({ .call(SyncEngineCall(id: $0, kind: kind)) }) { throw error }
    }

    /// Cancels the running operations, and waits until they have ended.
    func cancelOperations() async {
        // Waiting would never end: the operation ends after the delegate's method.
        guard !isInsideDelegate else {
            signal(.cancelAll(nextCall()))
            return
        }
        _ = await wait { .cancelAll($0) }
    }

    private func nextCall() -> SyncEngineCall.ID {
        contents.withLock {
            $0.lastCall += 1
            return $0.lastCall
        }
    }

    private func wait(
        _ signal: (SyncEngineCall.ID) -> SyncEngineSignal
    ) async -> CKError? {
        let id = nextCall()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                contents.withLock { $0.calls[id] = continuation }
                self.signal(signal(id))
                // A cancellation before the call was registered found nothing to cancel.
                if Task.isCancelled { self.signal(.cancel(id)) }
            }
        } onCancel: {
            self.signal(.cancel(id))
        }
    }

    // MARK: The delegate's methods

    /// A task that runs one of a delegate's methods.
    private struct Visit: Sendable {
        let core: ObjectIdentifier
        let task: Int?
        let signal: @Sendable (SyncEngineSignal) -> Void
    }

    private static let visiting = TaskLocal<[Visit]>(wrappedValue: [])

    private static var visits: [Visit] { visiting.get() }

    private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// `true` when the caller is one of the delegate's methods itself.
    ///
    /// A task that the method starts is not one, although it inherits the task's values.
    var isInsideDelegate: Bool {
        let visits = Self.visits
        guard !visits.isEmpty else { return false }
        let task = Self.task
        return visits.contains { $0.core == ObjectIdentifier(self) && $0.task == task }
    }

    /// Runs one of the delegate's methods.
    func visit<Value: Sendable>(_ body: () async -> Value) async -> Value {
        let visit = Visit(core: ObjectIdentifier(self), task: Self.task) { [weak self] in
            self?.signal($0)
        }
        return await Self.visiting.withValue(Self.visits + [visit]) { await body() }
    }

    /// Notifies the engine whose delegate creates a batch that a record is about to be requested.
    static func noteReading(of recordID: CKRecord.ID) {
        visits.last?.signal(.readingRecord(recordID))
    }
}
