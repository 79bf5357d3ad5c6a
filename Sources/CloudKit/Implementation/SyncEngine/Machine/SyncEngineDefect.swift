/// Ways to break the machine on purpose, so that tests can show that they would notice.
///
/// Only tests set one; an engine that an app makes has none.
package enum SyncEngineDefect: String, CaseIterable, Sendable {
    /// A result clears a change that was added again after its batch was made.
    case clearsNewerChange
    /// What the network or the server's load held up is not kept for another try.
    case dropsHeldUpChange
    /// What failed for good stays pending.
    case keepsFailedChange
    /// A deletion does not take the place of a pending save.
    case keepsOppositeChange
    /// The token counts as reached before the delegate has the records.
    case movesTokenBeforeEvent
    /// A zone is taken as fetched after its first page.
    case ignoresMoreComing
    /// A token that expired is kept and fails again.
    case keepsExpiredToken
    /// Zones that went away while the database's token was lost are not noticed.
    case overlooksLostZone
    /// Zones that a fetch did not reach count as fetched.
    case forgetsUnreachedZone
    /// A push that comes during a fetch is thought to be answered by it.
    case forgetsPushDuringFetch
    /// A change that is added while others are sent schedules nothing.
    case forgetsChangeDuringSend
    /// Another user gets what was pending for the last one.
    case keepsChangesOfLastAccount
    /// The wait that the service asks for is cut short.
    case ignoresRetryAfter
    /// After a failure that would pass, nothing is scheduled.
    case givesUp
    /// A failure is repeated at once.
    case repeatsAtOnce
    /// The delegate gets no state after a change of it.
    case keepsStateToItself
    /// A batch with a failure is followed by the next one, which holds the same again.
    case asksAfterFailure
}
