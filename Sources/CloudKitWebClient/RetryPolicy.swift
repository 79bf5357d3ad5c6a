import CloudKitWire

/// A retry policy: how long to wait before a retry, and which failed requests a client sends again.
///
/// The first delay doubles with every failure, up to a limit, and a random part of it is left out.
/// A server that requests a delay gets at least that. Clients and sync engines share it.
///
/// A client retries a request only when this cannot repeat its effect: when it did not reach the
/// server, when the server refused it temporarily, or when it only reads.
///
/// ```swift
/// // At most five times: after 1, 2, 4 and 8 seconds, of which up to a half is left out.
/// let policy = RetryPolicy(attempts: 5, delay: 1, longestDelay: 60, jitter: 0.5)
/// ```
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of times that a request is sent.
    public var attempts: Int
    /// Seconds before the first retry unless the service specifies them; each delay is twice the
    /// last.
    public var delay: Double
    /// The maximum number of seconds between two attempts, unless the service requires more.
    public var longestDelay: Double
    /// The part of each delay that is random, from 0 to 1: with 0.5, a delay of 8 seconds takes 4 to
    /// 8.
    ///
    /// It keeps many clients that failed together from returning together.
    public var jitter: Double

    /// A policy that never retries: every failure is reported to the caller.
    public static let never = RetryPolicy(attempts: 1, delay: 0, longestDelay: 0)
    /// A policy for background work that retries for a week, which is longer than any maintenance.
    ///
    /// Operations and configured calls end earlier if their `timeoutIntervalForResource` is shorter.
    public static let patient = RetryPolicy(attempts: 2025, delay: 1, longestDelay: 300)
    /// The policy of sync engines, which retry for as long as they exist.
    package static let engine = RetryPolicy(
        attempts: .max,
        delay: 1,
        longestDelay: 300,
        jitter: 0.5
    )

    /// Creates a retry policy.
    public init(attempts: Int, delay: Double, longestDelay: Double, jitter: Double = 0) {
        self.attempts = attempts
        self.delay = delay
        self.longestDelay = longestDelay
        self.jitter = jitter
    }

    /// Returns the delay before a retry.
    ///
    /// - Parameters:
    ///   - failures: The number of failures since the last success.
    ///   - retryAfter: The seconds that the server requests.
    ///   - chance: A random number for the jitter, at least 0 and less than 1.
    /// - Returns: The delay: no less than the server requests, however small the policy's own.
    package func delay(
        afterFailures failures: Int,
        retryAfter: Double? = nil,
        chance: Double
    ) -> Duration {
        let doublings = min(max(failures, 1), 21) - 1
        let whole = min(delay * Double(1 << doublings), longestDelay)
        let own = whole * (1 - jitter * (1 - chance))
        // A minimum: a server that always requests one second would be flooded with requests.
        return .seconds(max(RetryAfter.seconds(retryAfter) ?? 0, own))
    }

    /// Returns the delay after a failed attempt, counted from 1; nil when there is no next one.
    func delay(
        after attempt: Int,
        _ error: WebClientError,
        _ mayRepeat: Bool,
        chance: Double = .random(in: 0..<1)
    ) -> Duration? {
        guard attempt < attempts else { return nil }
        let retryAfter: Double?
        switch error {
        case .refused(let refusal, _):
            guard let seconds = refusal.retryAfter else { return nil }
            retryAfter = seconds
        // A busy server has done nothing yet; a proxy specifies when to retry, like the service.
        case .unexpectedResponse(let status, _, let seconds) where [429, 503].contains(status):
            retryAfter = seconds
        case .transport(let failure) where failure.code == .unreachable: retryAfter = nil
        case .transport(let failure)
        where [.broken, .timedOut].contains(failure.code) && mayRepeat:
            retryAfter = nil
        case .unexpectedResponse(let status, _, _)
        where ((200..<300).contains(status) || [502, 504].contains(status)) && mayRepeat:
            retryAfter = nil
        default: return nil
        }
        return delay(afterFailures: attempt, retryAfter: retryAfter, chance: chance)
    }
}

extension Endpoint {
    /// A Boolean value that indicates whether sending a request twice may have its effect twice.
    var changesData: Bool {
        rawValue.hasSuffix("/modify") || self == .recordsAccept
    }
}
