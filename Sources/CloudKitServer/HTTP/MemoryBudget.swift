import Synchronization

/// The memory limit of request bodies while they are received and processed.
///
/// A single client gets at most half of it, so that it cannot keep all others out.
final class MemoryBudget: Sendable {
    private struct State {
        var total = 0
        var clients: [String: Int] = [:]
    }

    private let bytes: Int
    private let state = Mutex(State())

    init(bytes: Int) {
        self.bytes = bytes
    }

    /// The number of bytes currently in use.
    var taken: Int { state.withLock(\.total) }

    /// Returns a share that a client can grow; its memory is returned when the share is released.
    func share(of client: String) -> Share { Share(budget: self, client: client) }

    private func take(_ count: Int, _ client: String) -> Bool {
        state.withLock { state in
            let own = state.clients[client, default: 0]
            guard state.total + count <= bytes, own + count <= bytes / 2 else { return false }
            state.total += count
            state.clients[client] = own + count
            return true
        }
    }

    private func giveBack(_ count: Int, _ client: String) {
        state.withLock { state in
            state.total -= count
            let left = state.clients[client, default: 0] - count
            state.clients[client] = left > 0 ? left : nil
        }
    }

    /// The memory that one request uses.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let client: String
        private let taken = Mutex(0)

        fileprivate init(budget: MemoryBudget, client: String) {
            self.budget = budget
            self.client = client
        }

        /// Reserves more bytes; returns false if there is no room.
        func take(_ count: Int) -> Bool {
            guard budget.take(count, client) else { return false }
            taken.withLock { $0 += count }
            return true
        }

        deinit { budget.giveBack(taken.withLock { $0 }, client) }
    }
}
