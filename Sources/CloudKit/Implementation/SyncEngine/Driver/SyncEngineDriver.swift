/// Executes the actions of an engine's machine, one after the other, and signals their outcomes. It
/// makes no decisions.
actor SyncEngineDriver {
    private let core: SyncEngineCore
    private let service: any SyncEngineService
    private weak let engine: CKSyncEngine?
    private weak let delegate: (any CKSyncEngineDelegate)?

    /// The event, delegate call or request in flight.
    private var work: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var listener: Task<Void, Never>?
    private var accountListener: Task<Void, Never>?
    private let accountChanges: AsyncStream<Void>

    init(
        _ engine: CKSyncEngine,
        _ configuration: CKSyncEngine.Configuration,
        service: any SyncEngineService,
        core: SyncEngineCore
    ) {
        self.engine = engine
        delegate = configuration.delegate
        self.service = service
        self.core = core
        // From the beginning, so that no change is missed before the driver runs.
        accountChanges = service.accountChanges()
    }

    /// Executes actions until the engine is deinitialised.
    func run(_ actions: AsyncStream<SyncEngineAction>) async {
        accountListener = Task(executorPreference: core.executor) {
            @concurrent [core, accountChanges] in
            for await _ in accountChanges { core.signal(.notice(.accountChanged)) }
        }
        for await action in actions { perform(action) }
        accountListener?.cancel()
        work?.cancel()
        timer?.cancel()
        listener?.cancel()
    }

    private func perform(_ action: SyncEngineAction) {
        switch action {
        case .deliver(let event):
            visit { delegate, engine in
                await delegate.handleEvent(event, syncEngine: engine)
                return .delivered
            }
        case .requestBatch(let context):
            visit { delegate, engine in
                .batch(await delegate.nextRecordZoneChangeBatch(context, syncEngine: engine))
            }
        case .requestOptions(let context):
            visit { delegate, engine in
                .options(await delegate.nextFetchChangesOptions(context, syncEngine: engine))
            }
        case .request(let request, let user, let group):
            work = Task(executorPreference: core.executor) { @concurrent [core, service] in
                core.signal(.response(await service.respond(to: request, for: user, in: group)))
            }
        case .cancelRequest: work?.cancel()
        case .wake(let time): wake(at: time)
        case .listen(let isListening): listen(isListening)
        case .log(let message): core.log(message)
        case .reportMistake(let message): core.reportMistake(message)
        case .finish: break
        }
    }

    /// Calls the delegate; an engine without one has nothing further to do.
    private func visit(
        _ body:
            @escaping @Sendable (any CKSyncEngineDelegate, CKSyncEngine) async -> SyncEngineSignal
    ) {
        work = Task(executorPreference: core.executor) {
            @concurrent [core, weak delegate, weak engine] in
            guard let delegate, let engine else {
                core.stop()
                return
            }
            core.signal(await core.visit { await body(delegate, engine) })
        }
    }

    private func wake(at time: Duration?) {
        timer?.cancel()
        timer = time.map { time in
            Task(executorPreference: core.executor) { @concurrent [core] in
                do {
                    try await core.sleep(until: time)
                    core.signal(.wake)
                } catch {
                    // Another time, or none, was requested.
                }
            }
        }
    }

    private func listen(_ isListening: Bool) {
        listener?.cancel()
        listener = nil
        guard isListening else { return }
        listener = Task(executorPreference: core.executor) { @concurrent [core, service] in
            for await _ in service.pushes() { core.signal(.notice(.databaseChanged)) }
        }
    }
}
