import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Remembers which tokens of a session are still good, where each is good for one round trip only.
///
/// It is kept in memory: after a restart the first token of a session that comes is believed.
final class TokenRotation: Sendable {
    private static let capacity = 10_000

    /// Tokens of a session that are good: the newest one and, for answers that got lost, the one
    /// before it.
    private let good = Mutex<[Data: [Int64]]>([:])

    /// Whether a token is good.
    func allows(_ token: WebToken) -> Bool {
        good.withLock { $0[token.hash].map { $0.contains(token.nonce) } ?? true }
    }

    /// Makes a token the newest of its session.
    func rotate(from old: WebToken, to new: WebToken) {
        good.withLock {
            if $0.count >= Self.capacity { $0.removeAll() }
            $0[old.hash] = [old.nonce, new.nonce]
        }
    }
}
