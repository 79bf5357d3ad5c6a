import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Remembers which tokens of a session are still valid when each is valid for one round trip.
///
/// A token may be used once more as long as none of the tokens in its responses was used, because a
/// response may have been lost. Any other earlier token means that two parties hold the session,
/// which then ends for both.
///
/// The state is kept in memory: after a restart the first token of a session is accepted.
final class TokenRotation: Sendable {
    /// The decision about the use of a token.
    enum Verdict: Hashable, Sendable {
        case good
        /// The token was used before, and its session must end.
        case replayed
    }

    private struct Session {
        /// The token that was used last, and the number of its uses.
        var used: Int64
        var uses = 1
        /// The tokens that its responses carried.
        var next: [Int64] = []
        /// The time of its use, as a count of the uses of all sessions.
        var time: Int
    }

    private struct State {
        var sessions: [Data: Session] = [:]
        var time = 0
    }

    /// The maximum number of uses of one token.
    private static let useLimit = 2

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    /// Records the use of a token and returns whether it is allowed.
    func use(_ token: WebToken) -> Verdict {
        let hash = token.hash
        return state.withLock { state in
            state.time += 1
            guard var session = state.sessions[hash] else {
                if state.sessions.count >= capacity { Self.forgetOldest(&state) }
                state.sessions[hash] = Session(used: token.nonce, time: state.time)
                return .good
            }
            session.time = state.time
            if session.next.contains(token.nonce) {
                session = Session(used: token.nonce, time: state.time)
            } else if session.used == token.nonce, session.uses < Self.useLimit {
                session.uses += 1
            } else {
                // No token is valid any longer, until the stored session has been removed.
                session.used = .min
                session.uses = Self.useLimit
                session.next = []
                state.sessions[hash] = session
                return .replayed
            }
            state.sessions[hash] = session
            return .good
        }
    }

    /// Adds a token to those that the responses to another token carry.
    ///
    /// Returns false if the other token was superseded meanwhile; the response must carry no token then.
    func rotate(from old: WebToken, to new: WebToken) -> Bool {
        state.withLock { state in
            let hash = old.hash
            guard state.sessions[hash]?.used == old.nonce else { return false }
            state.sessions[hash]?.next.append(new.nonce)
            return true
        }
    }

    /// Removes the sessions that were not used for longest, so that a flood of new ones cannot
    /// exhaust the memory.
    private static func forgetOldest(_ state: inout State) {
        let times = state.sessions.values.map(\.time).sorted()
        let bound = times[times.count / 10]
        state.sessions = state.sessions.filter { $0.value.time > bound }
    }
}
