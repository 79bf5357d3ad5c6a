import CloudKitWire

/// The faults of one request.
struct FaultDecision: Hashable, Sendable {
    /// The error with which the request is refused.
    var error: RequestError?
    /// The items that fail individually, by index.
    var failures: [Int: RecordFailure] = [:]
    /// The items whose records another device changes first.
    var staleItems: Set<Int> = []
    var expiresWebToken = false
    var expiresChangeTokens = false
    var losesNotification = false
    /// `true` when the request is not processed.
    var isDropped = false
    /// The way in which the response is sent.
    var delivery = ServiceResponse.Delivery()
    /// The rules that took effect, by index.
    var rules: [Int] = []
    /// The rules that matched the request and are not hidden by other ones.
    var matches: [Match] = []
    /// The state of the plan to which the indexes belong.
    var generation = 0

    /// A rule that matched a request.
    struct Match: Hashable, Sendable {
        /// The index of the rule.
        var rule: Int
        /// The items that its fault can befall.
        var items: Set<Int>
        /// `true` when the rule took effect.
        var isTaken: Bool
    }

    /// Adds a fault, after all those with an earlier `Fault.turn`.
    ///
    /// - Returns: `false` if those hide it, so that nothing was added.
    mutating func add(_ fault: Fault, _ items: Set<Int>) -> Bool {
        guard !hides(fault) else { return false }
        switch fault {
        case .delay(let milliseconds): delivery.delayMilliseconds += milliseconds
        case .resetConnection:
            isDropped = true
            delivery.end = .lost
        case .lostResponse: delivery.end = .lost
        case .error(let code, let reason, let retryAfter):
            let text = reason ?? "The fault plan refuses this request with \(code.rawValue)"
            error = RequestError(code, reason: text, retryAfter: retryAfter)
        case .nativeError(let code, let reason, let retryAfter):
            error = RequestError(
                code.serverErrorCode,
                reason: reason ?? "The fault plan refuses this request with \(code.name)",
                retryAfter: retryAfter,
                nativeErrorCode: code
            )
        case .throttle: break
        case .expiredChangeTokens: expiresChangeTokens = true
        case .expiredWebToken: expiresWebToken = true
        case .lostNotification: losesNotification = true
        case .itemError(let code, _, let reason):
            let text = reason ?? "The fault plan makes this record fail with \(code.rawValue)"
            return fail(items, with: RecordFailure(code, text))
        case .nativeItemError(let code, _, let reason):
            let text = reason ?? "The fault plan makes this record fail with \(code.name)"
            return fail(items, with: RecordFailure(code.serverErrorCode, text, nativeCode: code))
        case .staleTags:
            let others = items.subtracting(failures.keys).subtracting(staleItems)
            staleItems.formUnion(others)
            return !others.isEmpty
        case .cutResponse(let bytes): delivery.end = .cut(bytes: bytes)
        case .slowResponse(let bytesPerSecond): delivery.bytesPerSecond = bytesPerSecond
        }
        return true
    }

    /// Returns whether the client sees the same with a fault as without it, because of earlier ones.
    func hides(_ fault: Fault) -> Bool {
        switch fault {
        case .delay: false
        case .resetConnection: isDropped
        case .lostResponse: delivery.end == .lost
        case .error, .nativeError, .throttle: isDropped || error != nil
        case .expiredChangeTokens: isRefused || expiresChangeTokens
        case .expiredWebToken: isRefused || expiresWebToken
        case .itemError, .nativeItemError, .staleTags: isRefused || expiresWebToken
        case .lostNotification: isDropped || losesNotification
        case .cutResponse: delivery.end != .whole
        case .slowResponse: delivery.end == .lost || delivery.bytesPerSecond != nil
        }
    }

    /// `true` when the request is not carried out.
    private var isRefused: Bool { isDropped || error != nil }

    /// Lets those of some items fail that do not fail yet; returns whether there are any.
    private mutating func fail(_ items: Set<Int>, with failure: RecordFailure) -> Bool {
        let others = items.subtracting(failures.keys)
        for item in others { failures[item] = failure }
        return !others.isEmpty
    }

    /// Refuses the request because its caller exceeds the limit.
    mutating func throttle(seconds: Double) {
        error = RequestError(
            .throttled,
            reason: "The caller requests more than the fault plan allows; wait",
            retryAfter: max(1, seconds.rounded(.up))
        )
    }
}
