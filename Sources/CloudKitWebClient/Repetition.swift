import CloudKitWire

/// Which failed requests a client sends again, and after how long.
///
/// A request is repeated only when that cannot do anything twice: when it did not reach the server,
/// when the server refused it for now, or when it only reads.
public struct Repetition: Hashable, Sendable {
    /// How often a request is sent at most.
    public var attempts: Int
    /// Seconds before the first repetition where the service does not say; each doubles the last.
    public var delay: Double
    /// Seconds that are exceeded between two attempts only where the service asks for more.
    public var longestDelay: Double

    /// Every failure is the caller's.
    public static let never = Repetition(attempts: 1, delay: 0, longestDelay: 0)
    /// For work that nobody waits for: goes on for a week, which is longer than any maintenance.
    ///
    /// Operations and configured calls end earlier where their `timeoutIntervalForResource` does.
    public static let patient = Repetition(attempts: 2025, delay: 1, longestDelay: 300)

    /// Makes a rule.
    public init(attempts: Int, delay: Double, longestDelay: Double) {
        self.attempts = attempts
        self.delay = delay
        self.longestDelay = longestDelay
    }

    /// How long to wait after a failed attempt, counted from 1; nil when there is no next one.
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
            // It is the least wait: a service that always says a second would get a storm of requests.
            return .seconds(max(seconds, growing))
        case .transport(let failure) where failure.code == .unreachable: return .seconds(growing)
        case .transport(let failure)
        where [.broken, .timedOut].contains(failure.code) && mayRepeat:
            return .seconds(growing)
        // What is busy has not done anything; a proxy says when to come back, as the service does.
        case .unexpectedAnswer(let status, _, let seconds) where [429, 503].contains(status):
            return .seconds(max(seconds ?? 0, growing))
        case .unexpectedAnswer(let status, _, _)
        where ((200..<300).contains(status) || [502, 504].contains(status)) && mayRepeat:
            return .seconds(growing)
        default: return nil
        }
    }
}

extension Endpoint {
    /// Whether sending a request twice may do something twice.
    var changesData: Bool {
        rawValue.hasSuffix("/modify") || self == .recordsAccept
    }
}
