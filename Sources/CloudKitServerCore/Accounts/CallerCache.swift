import CloudKitWire
import Synchronization

/// Callers found not long ago, so that a client's requests do not each look its credentials up.
///
/// A credential that is removed stays good for as long as an entry is kept.
final class CallerCache: Sendable {
    /// The credentials of a caller, whichever token of a session they come with.
    struct Key: Hashable, Sendable {
        var container: String
        var environment: ServiceEnvironment
        var apiToken: String
        var session: [UInt8]?
    }

    /// What was found.
    struct Entry: Sendable {
        var caller: Caller
        var environment: StoredEnvironment
        /// Milliseconds since 1970-01-01 UTC after which the caller is looked up again.
        var ends: Int64
    }

    /// Milliseconds for which an entry is kept.
    static let life: Int64 = 5000
    private static let capacity = 10_000

    private let entries = Mutex<[Key: Entry]>([:])

    /// The caller of some credentials, if it was found not long ago.
    func entry(_ key: Key, now: Int64) -> Entry? {
        entries.withLock { $0[key].flatMap { $0.ends > now ? $0 : nil } }
    }

    /// Forgets all callers, so that what changed about them is seen at once.
    func removeAll() { entries.withLock { $0.removeAll() } }

    /// Keeps a caller.
    func insert(_ entry: Entry, for key: Key) {
        entries.withLock {
            if $0.count >= Self.capacity { $0.removeAll() }
            $0[key] = entry
        }
    }
}
