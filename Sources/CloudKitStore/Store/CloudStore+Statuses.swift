import GRDB
import Synchronization

extension CloudStore {
    /// A stream of the current status and each change of it.
    ///
    /// A slow reader receives only the newest status. Each call creates a new stream, for one loop;
    /// it ends with the store or with an error of the database. Changes of other processes appear
    /// with this process's next change.
    public var statuses: AsyncThrowingStream<StoreStatus, any Error> {
        let watch = StatusWatch(self)
        return AsyncThrowingStream { try await watch.next() }
    }

    /// Reads the status again, because of a change that the file does not show.
    func statusChanged() {
        let signals = state.withLock { Array($0.statusSignals.values) }
        for signal in signals { signal.yield() }
    }
}

/// An observer that reads a store's status when it may have changed and a caller waits for it.
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

    /// Returns the next status that differs from the previous one; nil at the end.
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
        // Every write of records is noted in the control table, because SQLite does not report
        // changes of tables without rowids.
        observation = TableObserver.observe(
            "grdb_cloudkit_outbox",
            "grdb_cloudkit_control",
            in: store.file.writer
        ) { [signal] _ in
            signal.yield()
        }
    }
}
