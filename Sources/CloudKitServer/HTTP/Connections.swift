import NIOCore
import Synchronization

/// The connections of a server: how many there are, from where, and what of their answers is in
/// memory because nobody has read it yet.
package final class Connections: Sendable {
    /// What the server allows.
    package struct Limits: Sendable {
        /// Connections in all, and from one address.
        var all: Int
        var perAddress: Int
        /// Whether loopback connections count for their address; not where they are a proxy's.
        var countsLoopback: Bool
        /// Addresses of proxies, whose connections count for no address.
        var proxies: Set<String> = []
        /// Bytes of answers that wait for their readers.
        var answerBytes: Int
        /// How long a reader may take before another's answer is worth more.
        var patience: Duration = .seconds(2)

        /// Makes limits.
        package init(
            all: Int,
            perAddress: Int,
            countsLoopback: Bool,
            proxies: Set<String> = [],
            answerBytes: Int
        ) {
            self.proxies = proxies
            self.all = all
            self.perAddress = perAddress
            self.countsLoopback = countsLoopback
            self.answerBytes = answerBytes
        }
    }

    private struct Connection {
        let channel: any Channel
        let peer: Peer
        /// What it counts for; nil for a proxy's.
        let address: String?
        var answerBytes = 0
        var answeredSince = ContinuousClock.now
        var leaveWatchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var hasLeft = false
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var addresses: [String: Int] = [:]
        var answerBytes = 0
        var lastWatcher = 0
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Open connections.
    var count: Int { state.withLock(\.connections.count) }

    /// Counts a connection; false when there are too many.
    func admit(_ channel: any Channel) -> Bool {
        let peer = Peer(channel.remoteAddress, proxies: limits.proxies)
        let isProxy = !limits.countsLoopback && peer.isLoopback || peer.isTrusted
        let address = isProxy ? nil : peer.network
        return state.withLock { state in
            guard state.connections.count < limits.all else { return false }
            if let address {
                guard state.addresses[address, default: 0] < limits.perAddress else { return false }
                state.addresses[address, default: 0] += 1
            }
            state.connections[ObjectIdentifier(channel)] =
                Connection(channel: channel, peer: peer, address: address)
            return true
        }
    }

    /// The other end of a connection.
    func peer(of channel: any Channel) -> Peer {
        state.withLock { $0.connections[ObjectIdentifier(channel)]?.peer }
            ?? Peer(channel.remoteAddress, proxies: limits.proxies)
    }

    /// Forgets a connection that has ended.
    func remove(_ channel: any Channel) {
        leave(channel)
        state.withLock { state in
            guard let gone = state.connections.removeValue(forKey: ObjectIdentifier(channel)) else {
                return
            }
            state.answerBytes -= gone.answerBytes
            if let address = gone.address {
                let left = state.addresses[address, default: 0] - 1
                state.addresses[address] = left > 0 ? left : nil
            }
        }
    }

    // MARK: Answers that wait for their readers

    /// Counts an answer that is in memory until it was read.
    ///
    /// Where there are too many, the connections whose readers take longest are closed.
    func hold(_ bytes: Int, for channel: any Channel) {
        let slow = state.withLock { state -> [any Channel] in
            let id = ObjectIdentifier(channel)
            guard state.connections[id] != nil else { return [] }
            state.connections[id]?.answerBytes += bytes
            state.connections[id]?.answeredSince = .now
            state.answerBytes += bytes
            return Self.slowest(&state, limits, but: id)
        }
        for channel in slow { channel.close(promise: nil) }
    }

    /// Takes connections out of the sum until it is within the limit.
    private static func slowest(
        _ state: inout State,
        _ limits: Limits,
        but own: ObjectIdentifier
    ) -> [any Channel] {
        guard state.answerBytes > limits.answerBytes else { return [] }
        var closed: [any Channel] = []
        let waiting = state.connections.filter { $0.value.answerBytes > 0 && $0.key != own }
            .sorted { $0.value.answeredSince < $1.value.answeredSince }
        for (id, connection) in waiting where state.answerBytes > limits.answerBytes {
            guard ContinuousClock.now - connection.answeredSince >= limits.patience else { break }
            state.connections[id]?.answerBytes = 0
            state.answerBytes -= connection.answerBytes
            closed.append(connection.channel)
        }
        return closed
    }

    /// Forgets the answer of a connection: it was read.
    func release(_ channel: any Channel) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.answerBytes -= state.connections[id]?.answerBytes ?? 0
            state.connections[id]?.answerBytes = 0
        }
    }

    // MARK: Clients that go away

    /// Tells that a connection's client has closed its side.
    func leave(_ channel: any Channel) {
        let watchers = state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.connections[id]?.hasLeft = true
            let watchers = state.connections[id]?.leaveWatchers
            state.connections[id]?.leaveWatchers = [:]
            return watchers ?? [:]
        }
        for watcher in watchers.values { watcher.finish() }
    }

    /// Ends when the client of a connection goes away.
    func leaving(_ channel: any Channel) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let id = ObjectIdentifier(channel)
        let number = state.withLock { state -> Int? in
            guard state.connections[id]?.hasLeft == false else { return nil }
            state.lastWatcher += 1
            state.connections[id]?.leaveWatchers[state.lastWatcher] = continuation
            return state.lastWatcher
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [self] _ in
            state.withLock { $0.connections[id]?.leaveWatchers[number] = nil }
        }
        return stream
    }
}
