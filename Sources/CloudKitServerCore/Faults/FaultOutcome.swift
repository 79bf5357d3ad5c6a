import Synchronization

/// The parts of a response by which it is known which faults its client sees.
struct FaultOutcome: Sendable {
    /// The bytes of the body before a fault cuts it.
    var bytes = 0
    /// The items that the response reports one by one, by index.
    var items: Set<Int> = []
    /// `true` when no fault kept the request from being carried out.
    var isCarriedOut = true
}

/// The items of a request that came to their turn.
final class FaultTrace: Sendable {
    private let places = Mutex<Set<Int>>([])

    /// The items so far, by index.
    var items: Set<Int> { places.withLock { $0 } }

    /// Notes that it is an item's turn.
    func note(_ place: Int) {
        places.withLock { _ = $0.insert(place) }
    }
}
