import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Remembers which tokens of a session are still good, where each is good for one round trip only.
///
/// A token may be used once more, as long as none of those that its answers carried was used: an answer
/// may have got lost. Any other token of before means that two parties hold the session, so that it
/// ends for both.
///
/// It is kept in memory: after a restart the first token of a session that comes is believed.
final class TokenRotation: Sendable {
    /// What may be done with a token.
    enum Verdict: Hashable, Sendable {
        case good
        /// It was used before, and its session has to end.
        case replayed
    }

    private struct Session {
        /// The token that was used last, and how often.
        var used: Int64
        var uses = 1
        /// What its answers carried.
        var next: [Int64] = []
        /// When it was used, as a count of uses of all sessions.
        var time: Int
    }

    private struct State {
        var sessions: [Data: Session] = [:]
        var time = 0
    }

    /// Uses of one token at most.
    private static let useLimit = 2

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    /// Uses a token.
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
                // None is good any more, until what is stored of the session is gone.
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

    /// Makes a token one of those that the answers to another one carry; answers false where that one
    /// was left behind meanwhile, so that the answer is to carry none.
    func rotate(from old: WebToken, to new: WebToken) -> Bool {
        state.withLock { state in
            let hash = old.hash
            guard state.sessions[hash]?.used == old.nonce else { return false }
            state.sessions[hash]?.next.append(new.nonce)
            return true
        }
    }

    /// Makes room; a flood of new sessions takes the place of those that were not used for longest.
    private static func forgetOldest(_ state: inout State) {
        let times = state.sessions.values.map(\.time).sorted()
        let bound = times[times.count / 10]
        state.sessions = state.sessions.filter { $0.value.time > bound }
    }
}
