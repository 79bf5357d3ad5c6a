/// How much a caller may ask for in a time: a bucket that fills steadily, and from which each item of
/// a request takes one.
public struct ThrottleProfile: Hashable, Sendable {
    /// Items that a full bucket holds.
    public var burst: Double
    /// Items by which it fills in a second.
    public var perSecond: Double

    /// Makes a profile.
    public init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
    }

    /// About what one app measured of iCloud in 2026; nothing that Apple promises.
    public static let apple2026 = Self(burst: 21_000, perSecond: 17)
    /// So little that every client meets the limit soon.
    public static let strict = Self(burst: 100, perSecond: 1)

    /// The profiles by their names in a plan's JSON.
    static let named = ["apple-2026": apple2026, "strict": strict]

    /// What is left of one caller's bucket.
    struct Bucket: Hashable, Sendable {
        private var level: Double
        private var filled: Int64

        init(_ profile: ThrottleProfile, now: Int64) {
            level = profile.burst
            filled = now
        }

        /// Takes items; the seconds to wait when there are too few.
        mutating func take(_ items: Int, _ profile: ThrottleProfile, now: Int64) -> Double? {
            let passed = Double(max(0, now - filled)) / 1000
            level = min(profile.burst, level + passed * profile.perSecond)
            filled = now
            // A request larger than the bucket passes when the bucket is full.
            let cost = min(Double(max(items, 1)), profile.burst)
            guard level < cost else {
                level -= cost
                return nil
            }
            return profile.perSecond > 0 ? (cost - level) / profile.perSecond : 60
        }
    }
}
