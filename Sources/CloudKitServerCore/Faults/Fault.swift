public import CloudKitWire

/// A kind of fault.
///
/// It affects any request, unless the fault says which.
public enum Fault: Hashable, Sendable {
    /// The request is refused and changes nothing.
    case error(ServerErrorCode, reason: String? = nil, retryAfter: Double? = nil)
    /// Single records of `records/modify` or `records/lookup` fail: one by its index in the
    /// request, counted from 0, or all that the rule matches. A request that is refused as a whole, such
    /// as one to a missing zone, has none.
    case itemError(ServerErrorCode, item: Int? = nil, reason: String? = nil)
    /// The request is refused in a way that makes the client's framework report a code of the
    /// native API, even one that no response of the service leads to.
    case nativeError(NativeErrorCode, reason: String? = nil, retryAfter: Double? = nil)
    /// Single records fail as with `itemError`, with a code of the native API.
    case nativeItemError(NativeErrorCode, item: Int? = nil, reason: String? = nil)
    /// The request is carried out, but its response never arrives.
    case lostResponse
    /// The connection is reset before the request is processed.
    case resetConnection
    /// The request is carried out, but the response ends after this many bytes of its body; only for
    /// longer ones.
    case cutResponse(bytes: Int)
    /// The response is delayed by this many milliseconds.
    case delay(milliseconds: Int)
    /// The response's body is sent at this many bytes per second.
    case slowResponse(bytesPerSecond: Int)
    /// The caller's web auth token expires, beginning with this request; only for requests that have
    /// one.
    case expiredWebToken
    /// All change tokens of the environment expire, beginning with those in this request; not for the
    /// bytes of assets, and not for requests that wait for notifications.
    case expiredChangeTokens
    /// The notification that a waiting request would receive is lost; the request continues to wait.
    /// Only for `push/wait`, and only when there is one to lose: such notifications count, not requests.
    case lostNotification
    /// Another device saves the records just before this request does, so that their tags are stale;
    /// only for operations of `records/modify` that compare a tag, update, replace and delete, and that
    /// succeed otherwise.
    case staleTags
    /// Callers that change or request more items than a bucket holds are refused with `THROTTLED`.
    case throttle(ThrottleProfile)
}
