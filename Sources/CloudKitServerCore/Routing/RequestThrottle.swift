import CloudKitWire
import Synchronization

/// Refuses callers who send too many requests, each by its own bucket.
final class RequestThrottle: Sendable {
    /// The callers whose requests count together: one user, or all callers without a user.
    private struct Key: Hashable {
        var environment: Int64
        var user: Int64?
    }

    /// The remaining requests at a time.
    private struct Bucket {
        var left: Double
        var time: Int64
    }

    private static let capacity = 10_000

    private let burst: Double
    private let perMillisecond: Double
    private let buckets = Mutex<[Key: Bucket]>([:])

    init(_ rate: RequestRate) {
        burst = Double(max(rate.burst, 1))
        perMillisecond = max(rate.perSecond, 0.001) / 1000
    }

    /// Counts a request.
    ///
    /// - Throws: `RequestError` with `THROTTLED` that states when to retry.
    func admit(_ call: Call) throws(RequestError) {
        let key = Key(
            environment: call.environment.id.rawValue,
            user: call.caller.user?.id.rawValue
        )
        let wait = buckets.withLock { buckets in take(from: &buckets, key, call.now) }
        guard wait > 0 else { return }
        throw RequestError(
            .throttled,
            reason: "Too many requests; retry in \(wait) seconds",
            retryAfter: wait
        )
    }

    /// Takes one request from a bucket; returns the number of seconds to wait if it is empty.
    private func take(
        from buckets: inout [Key: Bucket],
        _ key: Key,
        _ now: Int64
    ) -> Double {
        if buckets.count >= Self.capacity { buckets.removeAll() }
        var bucket = buckets[key] ?? Bucket(left: burst, time: now)
        let passed = Double(max(now - bucket.time, 0))
        bucket.left = min(burst, bucket.left + passed * perMillisecond)
        bucket.time = max(now, bucket.time)
        defer { buckets[key] = bucket }
        guard bucket.left < 1 else {
            bucket.left -= 1
            return 0
        }
        return max(((1 - bucket.left) / perMillisecond / 1000).rounded(.up), 1)
    }
}
