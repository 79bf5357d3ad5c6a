import GRDB
import Synchronization

extension CloudStore {
    /// The status as it is now, and whenever it is another.
    ///
    /// Whoever looks late sees the newest and none of those between. Each call makes a stream of its
    /// own; it ends with the store, or with an error of the database. What other processes write into
    /// the file shows with this one's next change.
    public var statuses: AsyncThrowingStream<StoreStatus, any Error> {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
        let id = state.withLock { state in
            state.nextStream += 1
            state.statusSignals[state.nextStream] = signal
            return state.nextStream
        }
        let (statuses, continuation) = AsyncThrowingStream<StoreStatus, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task { [weak self, writer = file.writer] in
            let observation = DatabaseRegionObservation(
                tracking: Table("cloudkit_outbox"),
                Table("cloudkit_record"),
                Table("cloudkit_control")
            ).start(in: writer) { _ in
                signal.finish()
            } onChange: { _ in
                signal.yield()
            }
            defer { observation.cancel() }
            do {
                var last: StoreStatus?
                for await _ in signals {
                    guard let status = try await self?.status else { break }
                    if status != last { continuation.yield(status) }
                    last = status
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { [weak self] _ in
            task.cancel()
            _ = self?.state.withLock { $0.statusSignals.removeValue(forKey: id) }
        }
        return statuses
    }

    /// Has the status looked at again, for what the file does not say.
    func statusChanged() {
        let signals = state.withLock { Array($0.statusSignals.values) }
        for signal in signals { signal.yield() }
    }
}
