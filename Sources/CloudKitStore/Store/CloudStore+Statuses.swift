import GRDB
import Synchronization

extension CloudStore {
    /// The status as it is now, and whenever it is another.
    ///
    /// Whoever looks late sees the newest and none of those between. Each call makes a stream of its
    /// own, for one loop; it ends with the store, or with an error of the database. What other
    /// processes write into the file shows with this one's next change.
    public var statuses: AsyncThrowingStream<StoreStatus, any Error> {
        let watch = StatusWatch(self)
        return AsyncThrowingStream { try await watch.next() }
    }

    /// Has the status looked at again, for what the file does not say.
    func statusChanged() {
        let signals = state.withLock { Array($0.statusSignals.values) }
        for signal in signals { signal.yield() }
    }
}

/// Looks at a store's status when something may have changed and somebody waits for it.
private actor StatusWatch {
    private weak let store: CloudStore?
    private let id: Int
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private var observation: AnyDatabaseCancellable?
    private var last: StoreStatus?

    init(_ store: CloudStore) {
        self.store = store
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.signals, self.signal) = (signals, signal)
        signal.yield()
        id = store.state.withLock { state in
            state.nextStream += 1
            state.statusSignals[state.nextStream] = signal
            return state.nextStream
        }
    }

    deinit {
        _ = store?.state.withLock { $0.statusSignals.removeValue(forKey: id) }
    }

    /// The next status that is another than the one before; nil when there will be none.
    func next() async throws -> StoreStatus? {
        observe()
        var signals = signals.makeAsyncIterator()
        while await signals.next(isolation: self) != nil {
            guard let status = try await store?.status else { return nil }
            if status == last { continue }
            last = status
            return status
        }
        return nil
    }

    private func observe() {
        guard observation == nil, let store else { return }
        // Whatever writes records says so in the control table; SQLite tells nothing of tables without
        // rowids.
        observation = DatabaseRegionObservation(
            tracking: Table("grdb_cloudkit_outbox"),
            Table("grdb_cloudkit_control")
        ).start(in: store.file.writer) { [signal] _ in
            signal.finish()
        } onChange: { [signal] _ in
            signal.yield()
        }
    }
}
