/// How many requests may come: so many at once, and so many a second in the long run.
public struct RequestRate: Hashable, Sendable {
    /// Requests that may come at once.
    public var burst: Int
    /// Requests a second in the long run.
    public var perSecond: Double

    /// Makes a rate; what is not positive counts as very little.
    public init(burst: Int, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }
}
