/// A limit on a caller's requests: a bucket that fills steadily, and from which each item of a
/// request takes one.
public struct ThrottleProfile: Hashable, Sendable {
    /// The number of items that a full bucket holds.
    public var burst: Double
    /// The number of items by which it fills each second.
    public var perSecond: Double

    /// Creates a profile.
    public init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }

    /// The approximate limits that one app measured of iCloud in 2026; not documented by Apple.
    public static let apple2026 = Self(burst: 21_000, perSecond: 17)
    /// Limits so low that every client soon reaches them.
    public static let strict = Self(burst: 100, perSecond: 1)

    /// The profiles by their names in a plan's JSON.
    static let named = ["apple-2026": apple2026, "strict": strict]

    /// The remaining contents of one caller's bucket.
    struct Bucket: Hashable, Sendable {
        private var level: Double
        private var filled: Int64

        init(_ profile: ThrottleProfile, now: Int64) {
            level = profile.burst
            filled = now
        }

        /// Takes items; returns the number of seconds to wait if there are too few.
        mutating func take(_ items: Int, _ profile: ThrottleProfile, now: Int64) -> Double? {
            let passed = Double(max(0, now - filled)) / 1000
            level = min(profile.burst, level + passed * profile.perSecond)
            filled = now
            // A request larger than the bucket passes if the bucket is full.
            let cost = min(Double(max(items, 1)), profile.burst)
            guard level < cost else {
                level -= cost
                return nil
            }
            return profile.perSecond > 0 ? (cost - level) / profile.perSecond : 60
        }
    }
}
