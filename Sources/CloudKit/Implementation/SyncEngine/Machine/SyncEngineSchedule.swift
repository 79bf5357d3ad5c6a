import CloudKitWebClient
import CloudKitWire

/// The schedule of an engine's automatic operations, and the earliest time to run them.
///
/// A scheduled operation has a due time; nil means that none is scheduled. Waits after failures
/// apply to all operations, because network and throttling concern all requests of an engine.
struct SyncEngineSchedule: Sendable {
    var subscribe: Duration?
    var fetch: Duration?
    var send: Duration?

    /// The end of the wait that the service requested.
    private var throttledUntil = Duration.zero
    /// The end of the wait before a retry, unless there are signs that the service is available
    /// again.
    private var heldUntil = Duration.zero
    /// The transient failures since the service last responded.
    private var failures = 0
    /// The refused batches since the last accepted one.
    private var refusals = 0

    /// The time before which no automatic operation runs.
    var quietUntil: Duration { max(throttledUntil, heldUntil) }

    /// Returns whether an operation that is due at a time may run now.
    func isDue(_ due: Duration?, at now: Duration) -> Bool {
        guard let due else { return false }
        return max(due, quietUntil) <= now
    }

    /// Returns the earliest of some due times.
    func next(of times: [Duration?]) -> Duration? {
        times.compactMap { $0 }.min().map { max($0, quietUntil) }
    }

    /// Waits after a transient error.
    mutating func hold(
        _ error: CKError,
        at moment: SyncEngineMoment,
        _ timing: SyncEngineTiming
    ) {
        failures += 1
        let wait = timing.retryPolicy.delay(afterFailures: failures, chance: moment.chance)
        heldUntil = moment.now + wait
        if let seconds = RetryAfter.seconds(error.retryAfterSeconds) {
            // A longer wait that the service requested earlier still holds.
            throttledUntil = max(throttledUntil, moment.now + .seconds(seconds))
        }
    }

    /// Ends the wait, because the service responded: it can be reached.
    mutating func release() {
        // The wait that the service requested still holds.
        failures = 0
        heldUntil = .zero
    }

    /// Ends the wait before a retry, because the service seems to be available again.
    mutating func endHold() { heldUntil = .zero }

    /// Records a refused batch; returns the wait before the next one.
    ///
    /// Conflicts are normal, so the first refusal waits no longer than an edit.
    mutating func refused(
        at moment: SyncEngineMoment,
        _ timing: SyncEngineTiming
    ) -> Duration {
        refusals += 1
        if refusals == 1 { return timing.sendDelay }
        return timing.retryPolicy.delay(afterFailures: refusals, chance: moment.chance)
    }

    /// Records an accepted batch.
    mutating func accepted() { refusals = 0 }
}
