import CloudKitWire
import Synchronization

/// A cache of recently determined callers, which saves looking up the credentials of each request.
///
/// A removed credential remains valid for as long as its entry is kept.
final class CallerCache: Sendable {
    /// The credentials of a caller, the same for all tokens of a session.
    struct Key: Hashable, Sendable {
        var container: String
        var environment: ServiceEnvironment
        var apiToken: String
        var session: [UInt8]?
    }

    /// A cached caller.
    struct Entry: Sendable {
        var caller: Caller
        var environment: StoredEnvironment
        /// The time, in milliseconds since 1970-01-01 UTC, after which the caller is looked up again.
        var ends: Int64
    }

    /// The number of milliseconds for which an entry is kept.
    static let life: Int64 = 5000
    private static let capacity = 10_000

    private let entries = Mutex<[Key: Entry]>([:])

    /// Returns the caller of credentials, if it was determined recently.
    func entry(_ key: Key, now: Int64) -> Entry? {
        entries.withLock { $0[key].flatMap { $0.ends > now ? $0 : nil } }
    }

    /// Removes all callers, so that changes to them take effect immediately.
    func removeAll() { entries.withLock { $0.removeAll() } }

    /// Adds a caller.
    func insert(_ entry: Entry, for key: Key) {
        entries.withLock {
            if $0.count >= Self.capacity { $0.removeAll() }
            $0[key] = entry
        }
    }
}
