import CloudKitWire

/// A client's retry policy: which failed requests are sent again, and after how long.
///
/// A request is retried only when this cannot repeat its effect: when it did not reach the server,
/// when the server refused it temporarily, or when it only reads.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of times that a request is sent.
    public var attempts: Int
    /// Seconds before the first retry unless the service specifies them; each delay is twice the
    /// last.
    public var delay: Double
    /// The maximum number of seconds between two attempts, unless the service requires more.
    public var longestDelay: Double

    /// A policy that never retries: every failure is reported to the caller.
    public static let never = RetryPolicy(attempts: 1, delay: 0, longestDelay: 0)
    /// A policy for background work that retries for a week, which is longer than any maintenance.
    ///
    /// Operations and configured calls end earlier if their `timeoutIntervalForResource` is shorter.
    public static let patient = RetryPolicy(attempts: 2025, delay: 1, longestDelay: 300)

    /// Creates a retry policy.
    public init(attempts: Int, delay: Double, longestDelay: Double) {
        self.attempts = attempts
        self.delay = delay
        self.longestDelay = longestDelay
    }

    /// Returns the delay after a failed attempt, counted from 1; nil when there is no next one.
    func delay(
        after attempt: Int,
        _ error: WebClientError,
        _ mayRepeat: Bool
    ) -> Duration? {
        guard attempt < attempts else { return nil }
        let growing = min(delay * Double(1 << min(attempt - 1, 20)), longestDelay)
        switch error {
        case .refused(let refusal, _):
            guard let seconds = refusal.retryAfter else { return nil }
            // A minimum: a service that always requires one second would be flooded with requests.
            return .seconds(max(seconds, growing))
        case .transport(let failure) where failure.code == .unreachable: return .seconds(growing)
        case .transport(let failure)
        where [.broken, .timedOut].contains(failure.code) && mayRepeat:
            return .seconds(growing)
        // A busy server has done nothing yet; a proxy specifies when to retry, like the service.
        case .unexpectedResponse(let status, _, let seconds) where [429, 503].contains(status):
            return .seconds(max(seconds ?? 0, growing))
        case .unexpectedResponse(let status, _, _)
        where ((200..<300).contains(status) || [502, 504].contains(status)) && mayRepeat:
            return .seconds(growing)
        default: return nil
        }
    }
}

extension Endpoint {
    /// A Boolean value that indicates whether sending a request twice may have its effect twice.
    var changesData: Bool {
        rawValue.hasSuffix("/modify") || self == .recordsAccept
    }
}
