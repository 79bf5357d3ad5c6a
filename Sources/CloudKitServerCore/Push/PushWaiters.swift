import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests that wait for notifications, by queue.
///
/// They are kept in memory; what they wait for is in the storage, so a lost one loses nothing. Services
/// of one process that work on one storage share them, so that each wakes the others' requests.
final class PushWaiters: Sendable {
    private struct Contents {
        var waiters: [Data: [(id: Int, signal: AsyncStream<Void>.Continuation)]] = [:]
        var last = 0
    }

    /// Requests that wait on one queue at most; one more ends the oldest.
    private static let countLimit = 8

    private let contents = Mutex(Contents())

    private struct Weak {
        weak var waiters: PushWaiters?
    }

    private static let byStorage = Mutex<[ObjectIdentifier: Weak]>([:])

    /// The requests that wait on a storage's queues, in all services of the process.
    ///
    /// Whoever holds them holds the storage too, so its identity is not another's meanwhile.
    static func shared(of storage: any Storage) -> PushWaiters {
        guard type(of: storage) is AnyClass else { return PushWaiters() }
        let id = ObjectIdentifier(storage as AnyObject)
        return byStorage.withLock { known in
            if let waiters = known[id]?.waiters { return waiters }
            known = known.filter { $0.value.waiters != nil }
            let waiters = PushWaiters()
            known[id] = Weak(waiters: waiters)
            return waiters
        }
    }

    /// The number of requests that wait.
    var count: Int { contents.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Begins to wait; the stream has an element for every item that comes from now on, or one for
    /// several.
    func open(_ queue: Data) -> (id: Int, signals: AsyncStream<Void>) {
        let (signals, signal) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let (id, oldest) = contents.withLock { contents in
            contents.last += 1
            contents.waiters[queue, default: []].append((contents.last, signal))
            let isFull = contents.waiters[queue, default: []].count > Self.countLimit
            return (contents.last, isFull ? contents.waiters[queue]?.removeFirst() : nil)
        }
        oldest?.signal.finish()
        return (id, signals)
    }

    /// Waits no longer.
    func close(_ queue: Data, _ id: Int) {
        contents.withLock { contents in
            contents.waiters[queue]?.removeAll { $0.id == id }
            if contents.waiters[queue]?.isEmpty == true { contents.waiters[queue] = nil }
        }
    }

    /// Tells all who wait that there may be items.
    func wakeAll() {
        let signals = contents.withLock { $0.waiters.values.flatMap { $0 }.map(\.signal) }
        for signal in signals { signal.yield() }
    }

    /// Tells those who wait on queues that there are items.
    func wake(_ queues: Set<Data>) {
        guard !queues.isEmpty else { return }
        let signals = contents.withLock { contents in
            queues.flatMap { contents.waiters[$0] ?? [] }.map(\.signal)
        }
        for signal in signals { signal.yield() }
    }
}
