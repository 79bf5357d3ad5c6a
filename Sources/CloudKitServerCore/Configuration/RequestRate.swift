/// A rate limit for requests, with the size of a burst and the number per second in the long run.
public struct RequestRate: Hashable, Sendable {
    /// The number of requests that may arrive in a burst.
    public var burst: Int
    /// The number of requests per second in the long run.
    public var perSecond: Double

    /// Creates a rate; values that are not positive become very small ones.
    public init(burst: Int, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }
}
