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
    /// The rules that matched the request.
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

    mutating func add(_ fault: Fault, _ items: Set<Int>) {
        switch fault {
        case .error(let code, let reason, let retryAfter):
            let text = reason ?? "The fault plan refuses this request with \(code.rawValue)"
            error = error ?? RequestError(code, reason: text, retryAfter: retryAfter)
        case .itemError(let code, _, let reason):
            let text = reason ?? "The fault plan makes this record fail with \(code.rawValue)"
            for item in items where failures[item] == nil {
                failures[item] = RecordFailure(code, text)
            }
        case .nativeError(let code, let reason, let retryAfter):
            error =
                error
                ?? RequestError(
                    code.serverErrorCode,
                    reason: reason ?? "The fault plan refuses this request with \(code.name)",
                    retryAfter: retryAfter,
                    nativeErrorCode: code
                )
        case .nativeItemError(let code, _, let reason):
            let text = reason ?? "The fault plan makes this record fail with \(code.name)"
            let failure = RecordFailure(code.serverErrorCode, text, nativeCode: code)
            for item in items where failures[item] == nil { failures[item] = failure }
        case .lostResponse: delivery.end = .lost
        case .resetConnection:
            isDropped = true
            delivery.end = .lost
        case .cutResponse(let bytes):
            switch delivery.end {
            case .whole: delivery.end = .cut(bytes: bytes)
            case .cut(let other): delivery.end = .cut(bytes: min(bytes, other))
            case .lost: break
            }
        case .delay(let milliseconds): delivery.delayMilliseconds += milliseconds
        case .slowResponse(let bytesPerSecond):
            delivery.bytesPerSecond = min(delivery.bytesPerSecond ?? .max, bytesPerSecond)
        case .expiredWebToken: expiresWebToken = true
        case .expiredChangeTokens: expiresChangeTokens = true
        case .lostNotification: losesNotification = true
        case .staleTags: staleItems.formUnion(items)
        case .throttle: break
        }
    }

    /// Refuses the request because its caller exceeds the limit.
    mutating func throttle(seconds: Double) {
        error =
            error
            ?? RequestError(
                .throttled,
                reason: "The caller requests more than the fault plan allows; wait",
                retryAfter: max(1, seconds.rounded(.up))
            )
    }
}
