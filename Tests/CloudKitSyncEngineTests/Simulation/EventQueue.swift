/// The events of a simulation, by time, and by order of scheduling at the same time.
struct EventQueue<Event> {
    private struct Entry {
        var time: Duration
        var number: Int
        var event: Event

        static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.time, lhs.number) < (rhs.time, rhs.number)
        }
    }

    private var heap: [Entry] = []
    private var last = 0

    mutating func add(_ event: Event, at time: Duration) {
        last += 1
        heap.append(Entry(time: time, number: last, event: event))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (time: Duration, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < heap.count && heap[child] < heap[least] { least = child }
                if least == parent { break }
                heap.swapAt(parent, least)
                parent = least
            }
        }
        return (first.time, first.event)
    }
}
