import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests that wait for notifications, by queue.
///
/// They are kept in memory; the notifications are in the storage, so that none is lost with a
/// request. Services of one process that work on one storage share them, so that each wakes the
/// others' requests.
final class PushWaiters: Sendable {
    private struct Contents {
        var waiters: [Data: [(id: Int, signal: AsyncStream<Void>.Continuation)]] = [:]
        var last = 0
    }

    /// The maximum number of requests that wait on one queue; another one ends the oldest.
    private static let countLimit = 8

    private let contents = Mutex(Contents())

    private struct Weak {
        weak var waiters: PushWaiters?
    }

    private static let byStorage = Mutex<[ObjectIdentifier: Weak]>([:])

    /// Returns the requests that wait on a storage's queues, in all services of the process.
    ///
    /// The holder of the result also holds the storage, so no other storage can have its identity
    /// meanwhile.
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

    /// The number of waiting requests.
    var count: Int { contents.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// The queues on which requests wait.
    var queues: Set<Data> { contents.withLock { Set($0.waiters.keys) } }

    /// Begins to wait; the stream has an element for every item that arrives from now on, or one
    /// for several.
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

    /// Ends the wait.
    func close(_ queue: Data, _ id: Int) {
        contents.withLock { contents in
            contents.waiters[queue]?.removeAll { $0.id == id }
            if contents.waiters[queue]?.isEmpty == true { contents.waiters[queue] = nil }
        }
    }

    /// Wakes all waiting requests because there may be items.
    func wakeAll() {
        let signals = contents.withLock { $0.waiters.values.flatMap { $0 }.map(\.signal) }
        for signal in signals { signal.yield() }
    }

    /// Wakes the requests that wait on queues with new items.
    func wake(_ queues: Set<Data>) {
        guard !queues.isEmpty else { return }
        let signals = contents.withLock { contents in
            queues.flatMap { contents.waiters[$0] ?? [] }.map(\.signal)
        }
        for signal in signals { signal.yield() }
    }
}
