import Synchronization

/// The newest requests of a server, in memory, oldest first.
public final class RequestJournal: Sendable {
    private struct Kept {
        var entry: JournalEntry
        var bodies: JournalBodies?
    }

    private struct Ring {
        var kept: [Kept] = []
        /// The index of the oldest entry once the ring is full.
        var start = 0
        /// The number of the newest entry, or 0.
        var last = 0
        var operations = 0
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWaiter = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    /// Creates an empty journal.
    ///
    /// - Parameter capacity: The number of requests that the journal keeps; older ones are removed.
    public init(capacity: Int = 1000) {
        self.capacity = max(1, capacity)
    }

    /// The kept requests, oldest first.
    public var entries: [JournalEntry] { entries(after: 0) }

    /// The number of the newest request, or 0.
    var last: Int { ring.withLock { $0.last } }

    /// The number of changes to records that stand in no journal, because an operator made them.
    var operations: Int { ring.withLock { $0.operations } }

    /// Counts a change of an operator's, and ends the waits for one.
    func noteOperation() {
        ring.withLock { ring in
            ring.operations += 1
            for waiter in ring.waiters.values { waiter.yield() }
        }
    }

    /// Returns the kept requests with higher numbers than the given one, oldest first.
    func entries(after number: Int) -> [JournalEntry] {
        ring.withLock { ring in
            let kept = ring.kept[ring.start...] + ring.kept[..<ring.start]
            // Numbers are consecutive.
            let news = max(0, min(kept.count, ring.last - number))
            return kept.suffix(news).map(\.entry)
        }
    }

    /// Returns a request with the beginnings of its bodies; nil if the journal does not have it.
    func entry(_ number: Int) -> (JournalEntry, JournalBodies?)? {
        ring.withLock { ring in
            ring.kept.first { $0.entry.number == number }.map { ($0.entry, $0.bodies) }
        }
    }

    /// Adds a request.
    ///
    /// - Returns: The request's number.
    @discardableResult
    func add(_ entry: JournalEntry, _ bodies: JournalBodies? = nil) -> Int {
        ring.withLock { ring in
            ring.last += 1
            var kept = Kept(entry: entry, bodies: bodies)
            kept.entry.number = ring.last
            if ring.kept.count < capacity {
                ring.kept.append(kept)
            } else {
                ring.kept[ring.start] = kept
                ring.start = (ring.start + 1) % capacity
            }
            for waiter in ring.waiters.values { waiter.yield() }
            return ring.last
        }
    }

    /// Adds a problem to a request; returns the request, or nil if the journal does not have it.
    func note(_ problem: JournalEntry.Problem, of number: Int) -> JournalEntry? {
        ring.withLock { ring in
            guard let place = ring.kept.firstIndex(where: { $0.entry.number == number }) else {
                return nil
            }
            ring.kept[place].entry.problems.append(problem)
            return ring.kept[place].entry
        }
    }

    /// Waits until there is a request after the one with a number, or another number of operators'
    /// changes than the given one, or the task is cancelled.
    func waitForNews(after number: Int, operations: Int?) async {
        let (news, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let waiter = ring.withLock { ring -> Int in
            // The first look is at what came before the wait.
            continuation.yield()
            ring.nextWaiter += 1
            ring.waiters[ring.nextWaiter] = continuation
            return ring.nextWaiter
        }
        defer { _ = ring.withLock { $0.waiters.removeValue(forKey: waiter) } }
        for await _ in news {
            let isNews = ring.withLock { ring in
                ring.last != number || operations.map { $0 != ring.operations } == true
            }
            if isNews { return }
        }
    }

    /// Removes all requests; the numbers continue after theirs.
    public func clear() {
        ring.withLock { ring in
            ring.kept = []
            ring.start = 0
        }
    }
}
