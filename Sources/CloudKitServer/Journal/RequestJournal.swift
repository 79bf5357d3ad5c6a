import Synchronization

/// The last requests of a server, in memory, oldest first.
public final class RequestJournal: Sendable {
    private struct Ring {
        var entries: [JournalEntry] = []
        /// The place of the oldest entry once the ring is full.
        var start = 0
    }

    private let capacity: Int
    private let ring = Mutex(Ring())

    /// Makes an empty journal.
    ///
    /// - Parameter capacity: How many requests it keeps; older ones go.
    public init(capacity: Int = 1000) {
        self.capacity = max(1, capacity)
    }

    /// The requests kept, oldest first.
    public var entries: [JournalEntry] {
        ring.withLock { Array($0.entries[$0.start...] + $0.entries[..<$0.start]) }
    }

    /// Keeps a request.
    func add(_ entry: JournalEntry) {
        ring.withLock { ring in
            if ring.entries.count < capacity {
                ring.entries.append(entry)
            } else {
                ring.entries[ring.start] = entry
                ring.start = (ring.start + 1) % capacity
            }
        }
    }

    /// Forgets all requests.
    public func clear() {
        ring.withLock { $0 = Ring() }
    }
}
