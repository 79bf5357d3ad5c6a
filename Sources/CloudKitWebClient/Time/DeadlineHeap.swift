/// Times and their actions, earliest first, without a clock.
///
/// Cancelled actions leave nothing behind: the heap is rebuilt when most of it is leftovers.
struct DeadlineHeap<Instant: Comparable, Action> {
    typealias ID = UInt64

    private var times: [(at: Instant, id: ID)] = []
    private var actions: [ID: Action] = [:]
    private var lastID: ID = 0

    /// The number of waiting actions.
    var count: Int { actions.count }

    /// The number of stored times, with leftovers.
    var room: Int { times.count }

    /// The earliest time.
    var first: Instant? { times.first?.at }

    /// Adds an action and returns the identifier with which it can be cancelled.
    mutating func insert(_ action: Action, at time: Instant) -> ID {
        lastID += 1
        actions[lastID] = action
        times.append((time, lastID))
        rise(from: times.count - 1)
        return lastID
    }

    /// Removes an action; returns nil when it was already performed or removed.
    mutating func remove(_ id: ID) -> Action? {
        guard let action = actions.removeValue(forKey: id) else { return nil }
        if times.count > 64, times.count > 2 * actions.count { rebuild() }
        return action
    }

    /// Removes and returns all actions up to a time, earliest first.
    mutating func due(at time: Instant) -> [Action] {
        var due: [Action] = []
        while let first = times.first, first.at <= time {
            dropFirst()
            if let action = actions.removeValue(forKey: first.id) { due.append(action) }
        }
        return due
    }

    private mutating func rebuild() {
        times = times.filter { actions[$0.id] != nil }.sorted { $0.at < $1.at }
    }

    private mutating func dropFirst() {
        let last = times.removeLast()
        guard !times.isEmpty else { return }
        times[0] = last
        sink()
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard times[child].at < times[parent].at else { return }
            times.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < times.count && times[child].at < times[least].at {
                least = child
            }
            guard least != parent else { return }
            times.swapAt(parent, least)
            parent = least
        }
    }
}
