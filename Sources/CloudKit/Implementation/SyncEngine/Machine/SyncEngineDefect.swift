/// The deliberate defects of the machine with which tests show that they detect them.
///
/// Only tests set one; an app's engine has none.
package enum SyncEngineDefect: String, CaseIterable, Sendable {
    /// A result clears a change that was added again after its batch was created.
    case clearsNewerChange
    /// A change that failed because of the network or the server's load is not kept for a retry.
    case dropsHeldUpChange
    /// A change that failed permanently stays pending.
    case keepsFailedChange
    /// A deletion does not replace a pending save.
    case keepsOppositeChange
    /// The token counts as reached before the delegate has received the records.
    case movesTokenBeforeEvent
    /// A zone counts as fetched after its first page.
    case ignoresMoreComing
    /// An expired token is kept and fails again.
    case keepsExpiredToken
    /// Zones that were deleted while the database's token was lost are not noticed.
    case overlooksLostZone
    /// Zones that a fetch did not reach count as fetched.
    case forgetsUnreachedZone
    /// A push during a fetch counts as handled by it.
    case forgetsPushDuringFetch
    /// A change that is added while others are being sent schedules nothing.
    case forgetsChangeDuringSend
    /// Another user receives the pending changes of the last one.
    case keepsChangesOfLastAccount
    /// The wait that the service requests is shortened.
    case ignoresRetryAfter
    /// A transient error schedules nothing.
    case givesUp
    /// A failure is retried immediately.
    case repeatsAtOnce
    /// The delegate does not receive a changed state.
    case keepsStateToItself
    /// A batch with a failure is followed by the next one, with the same contents.
    case asksAfterFailure
}
