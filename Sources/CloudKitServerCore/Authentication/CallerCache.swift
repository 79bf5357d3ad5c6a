import CloudKitWire
import Synchronization

/// A cache of recently determined callers, which saves looking up the credentials of each request.
///
/// Changes to callers remove all entries: at once on the node that makes them, and a moment later on
/// nodes that the storage notifies. A removed credential remains valid for at most as long as its
/// entry is kept, also where no news arrives.
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

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The number of times that all entries were removed.
        var removals = 0
    }

    /// The number of milliseconds for which an entry is kept.
    static let life: Int64 = 5000
    private static let capacity = 10_000

    private let state = Mutex(State())

    /// Returns the caller of credentials, if it was determined recently.
    func entry(_ key: Key, now: Int64) -> Entry? {
        state.withLock { $0.entries[key].flatMap { $0.ends > now ? $0 : nil } }
    }

    /// Removes all callers, so that changes to them take effect immediately.
    func removeAll() {
        state.withLock { state in
            state.entries.removeAll()
            state.removals += 1
        }
    }

    /// The number of times that all callers were removed, to be read before a caller is looked up.
    var removals: Int { state.withLock { $0.removals } }

    /// Adds a caller, unless all were removed since it was looked up: the change may be newer than what
    /// was found.
    ///
    /// - Parameters:
    ///   - entry: The caller.
    ///   - key: Its credentials.
    ///   - removals: The number of removals before it was looked up.
    func insert(_ entry: Entry, for key: Key, since removals: Int) {
        state.withLock { state in
            guard state.removals == removals else { return }
            if state.entries.count >= Self.capacity { state.entries.removeAll() }
            state.entries[key] = entry
        }
    }
}
