import Synchronization

/// Counts tries to sign in that failed, for each account and each address, so that nobody can go
/// through passwords.
///
/// A try counts when it begins and is forgotten when it succeeds. It is kept in memory: a restart
/// forgets all.
final class SignInTries: Sendable {
    /// Tries that may fail in the window, for one account and from one address.
    static let perAccount = 10
    static let perAddress = 30
    /// Milliseconds for which a try counts.
    static let window: Int64 = 15 * 60 * 1000

    private enum Key: Hashable {
        case account(String)
        case address(String)
    }

    private static let capacity = 20_000

    private let tries = Mutex<[Key: [Int64]]>([:])

    /// Counts a try.
    ///
    /// - Returns: The seconds to wait when there were too many; nil when the try may be made.
    func take(account: String, address: String, _ now: Int64) -> Int? {
        tries.withLock { tries in
            if tries.count >= Self.capacity {
                tries = tries.filter { $0.value.contains { $0 > now - Self.window } }
                // So many within the window come from an attack on the memory.
                if tries.count >= Self.capacity { return Int(Self.window / 1000) }
            }
            let keys = [
                (Key.account(account), Self.perAccount), (Key.address(address), Self.perAddress),
            ]
            for (key, limit) in keys {
                let recent = (tries[key] ?? []).filter { $0 > now - Self.window }
                tries[key] = recent
                if let seconds = Self.seconds(recent, limit, now) { return seconds }
            }
            for (key, _) in keys { tries[key, default: []].append(now) }
            return nil
        }
    }

    /// The seconds to wait when there were too many from an address, whoever is meant; nil when there
    /// were not.
    func wait(address: String, _ now: Int64) -> Int? {
        let recent = tries.withLock { $0[.address(address)] ?? [] }
            .filter { $0 > now - Self.window }
        return Self.seconds(recent, Self.perAddress, now)
    }

    private static func seconds(_ recent: [Int64], _ limit: Int, _ now: Int64) -> Int? {
        guard recent.count >= limit, let first = recent.first else { return nil }
        return Int((first + window - now + 999) / 1000)
    }

    /// Forgets the tries of an account, and one of an address: somebody has signed in.
    func forget(account: String, address: String) {
        tries.withLock { tries in
            tries[.account(account)] = nil
            _ = tries[.address(address)]?.popLast()
        }
    }
}
