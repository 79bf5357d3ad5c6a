#if PostgreSQL
import CloudKitServerCore
import Synchronization

/// Notifies once when there is no connection to PostgreSQL any more, and once when there is one again.
final class Reachability: Sendable {
    private let note: @Sendable (DatabaseReach) -> Void
    /// The time since which there is no connection; nil while there is one.
    private let loss = Mutex<ContinuousClock.Instant?>(nil)

    init(_ note: @escaping @Sendable (DatabaseReach) -> Void) { self.note = note }

    /// Notes that an attempt to connect has failed, and that there is no other connection.
    func lost(_ failure: PostgresFailure) {
        let isNew = loss.withLock { loss in
            defer { loss = loss ?? .now }
            return loss == nil
        }
        if isNew { note(.lost(reason: failure.message)) }
    }

    /// Notes that there is a connection.
    func regained() {
        let start = loss.withLock { loss in
            defer { loss = nil }
            return loss
        }
        guard let start else { return }
        note(.regained(seconds: (ContinuousClock.now - start).components.seconds))
    }
}
#endif
