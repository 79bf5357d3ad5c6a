public import CloudKitWire

/// One kind of thing that goes wrong.
public enum Fault: Hashable, Sendable {
    /// The request is refused; nothing is changed.
    case error(ServerErrorCode, reason: String? = nil, retryAfter: Double? = nil)
    /// Single records of `records/modify` or `records/lookup` fail: one by its place in the request,
    /// counted from 0, or all that the rule fits.
    case itemError(ServerErrorCode, item: Int? = nil, reason: String? = nil)
    /// The request is refused so that the client's framework reports a code of the native API, also
    /// one that no answer of the service leads to.
    case nativeError(NativeErrorCode, reason: String? = nil, retryAfter: Double? = nil)
    /// Single records fail as with `itemError`, with a code of the native API.
    case nativeItemError(NativeErrorCode, item: Int? = nil, reason: String? = nil)
    /// The request is carried out; its answer never arrives.
    case lostResponse
    /// The connection is reset before the request is looked at.
    case resetConnection
    /// The request is carried out; the answer ends after so many bytes of its body.
    case cutResponse(bytes: Int)
    /// The answer comes later, by milliseconds.
    case delay(milliseconds: Int)
    /// The answer's body comes at so many bytes a second.
    case slowResponse(bytesPerSecond: Int)
    /// The caller's web auth token expires, this request first.
    case expiredWebToken
    /// All change tokens of the environment expire, those in this request first.
    case expiredChangeTokens
    /// The notification that a waiting request would answer is lost on its way; the request waits on.
    case lostNotification
    /// Another device saves the records just before this request does, so that their tags are stale.
    case staleTags
    /// Callers that change or ask for more than a bucket holds are refused with `THROTTLED`.
    case throttle(ThrottleProfile)
}
