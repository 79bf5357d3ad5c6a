import Synchronization

/// Counts failed attempts to sign in, by account and by address, to prevent guessing passwords.
///
/// An attempt counts when it begins and is removed when it succeeds. Counts are kept in memory: a
/// restart clears them.
package final class SignInTries: Sendable {
    /// The number of attempts that may fail within the window, for one account and from one address.
    static let perAccount = 10
    static let perAddress = 30
    /// The number of milliseconds for which an attempt counts.
    static let window: Int64 = 15 * 60 * 1000

    private enum Key: Hashable {
        case account(String)
        case address(String)
    }

    private static let capacity = 20_000

    private let tries = Mutex<[Key: [Int64]]>([:])

    /// Creates counts of no attempts.
    package init() {}

    /// Counts an attempt.
    ///
    /// - Returns: The number of seconds to wait if there were too many; nil if the attempt is allowed.
    func take(account: String, address: String, _ now: Int64) -> Int? {
        take([(.account(account), Self.perAccount), (.address(address), Self.perAddress)], now)
    }

    /// Counts an attempt that concerns no account.
    ///
    /// - Returns: The number of seconds to wait if there were too many; nil if the attempt is allowed.
    package func take(address: String, _ now: Int64) -> Int? {
        take([(.address(address), Self.perAddress)], now)
    }

    private func take(_ keys: [(key: Key, limit: Int)], _ now: Int64) -> Int? {
        tries.withLock { tries in
            if tries.count >= Self.capacity {
                tries = tries.filter { $0.value.contains { $0 > now - Self.window } }
                // This many within the window are an attack on the memory.
                if tries.count >= Self.capacity { return Int(Self.window / 1000) }
            }
            for (key, limit) in keys {
                let recent = (tries[key] ?? []).filter { $0 > now - Self.window }
                tries[key] = recent
                if let seconds = Self.seconds(recent, limit, now) { return seconds }
            }
            for (key, _) in keys { tries[key, default: []].append(now) }
            return nil
        }
    }

    /// Returns the number of seconds to wait if there were too many attempts from an address, for
    /// any account; nil if there were not.
    package func wait(address: String, _ now: Int64) -> Int? {
        let recent = tries.withLock { $0[.address(address)] ?? [] }
            .filter { $0 > now - Self.window }
        return Self.seconds(recent, Self.perAddress, now)
    }

    private static func seconds(_ recent: [Int64], _ limit: Int, _ now: Int64) -> Int? {
        guard recent.count >= limit, let first = recent.first else { return nil }
        return Int((first + window - now + 999) / 1000)
    }

    /// Removes the attempts of an account, and one of an address, after a successful attempt.
    func forget(account: String, address: String) {
        tries.withLock { tries in
            tries[.account(account)] = nil
            _ = tries[.address(address)]?.popLast()
        }
    }
}
