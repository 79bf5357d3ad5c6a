#if PostgreSQL
import Synchronization

/// Tells once when there is no connection to PostgreSQL any more, and once when there is one again.
final class Reachability: Sendable {
    private let note: PostgresStorage.ReachNote
    /// The time since which there is no connection; nil while there is one.
    private let loss = Mutex<ContinuousClock.Instant?>(nil)

    init(_ note: @escaping PostgresStorage.ReachNote) { self.note = note }

    /// Notes that an attempt to connect has failed, and that there is no other connection.
    func lost(_ failure: PostgresFailure) {
        let isNew = loss.withLock { loss in
            defer { loss = loss ?? .now }
            return loss == nil
        }
        guard isNew else { return }
        note(false, failure.message + "; requests wait, and then fail, until it can be reached")
    }

    /// Notes that there is a connection.
    func regained() {
        let start = loss.withLock { loss in
            defer { loss = nil }
            return loss
        }
        guard let start else { return }
        let seconds = (ContinuousClock.now - start).components.seconds
        note(true, "PostgreSQL can be reached again after \(seconds) s")
    }
}
#endif
