import CloudKitWire

/// What an engine means to do by itself, and from when on it may.
///
/// A wish has the time it is due from; a wish that is nil is none. Waits after failures hold for
/// all wishes alike, because network and throttling concern all requests of an engine.
struct SyncEngineSchedule: Sendable {
    var identify: Duration?
    var subscribe: Duration?
    var fetch: Duration?
    var send: Duration?

    /// Until when the service asked to be left alone.
    private var throttledUntil = Duration.zero
    /// Until when a repetition makes no sense, unless something shows that the service is back.
    private var heldUntil = Duration.zero
    private var backoff = Backoff()
    /// For batches that are refused again and again.
    private var refusals = Backoff()

    /// The time before which nothing is done without being asked.
    var quietUntil: Duration { max(throttledUntil, heldUntil) }

    /// Whether a wish can be fulfilled now.
    func isDue(_ wish: Duration?, at now: Duration) -> Bool {
        guard let wish else { return false }
        return max(wish, quietUntil) <= now
    }

    /// When the next of some wishes is due.
    func next(of wishes: [Duration?]) -> Duration? {
        wishes.compactMap { $0 }.min().map { max($0, quietUntil) }
    }

    /// Something failed that will pass.
    mutating func hold(
        _ error: CKError,
        at moment: SyncEngineMoment,
        _ timing: SyncEngineTiming
    ) {
        let wait = backoff.next(timing, chance: moment.chance)
        heldUntil = moment.now + wait
        if let seconds = RetryAfter.seconds(error.retryAfterSeconds) {
            throttledUntil = max(throttledUntil, moment.now + .seconds(seconds))
        }
    }

    /// The service answered: it can be reached.
    mutating func release() {
        backoff.reset()
        heldUntil = .zero
    }

    /// The service can be reached again, as it seems: the next attempt need not wait.
    mutating func hope() { heldUntil = .zero }

    /// A batch was refused; says how long to wait before the next one.
    ///
    /// Conflicts are ordinary, so the first refusal costs no more than an edit does.
    mutating func refused(
        at moment: SyncEngineMoment,
        _ timing: SyncEngineTiming
    ) -> Duration {
        let isFirst = refusals.failures == 0
        let wait = refusals.next(timing, chance: moment.chance)
        return isFirst ? timing.sendDelay : wait
    }

    /// A batch was taken.
    mutating func accepted() { refusals.reset() }
}
