import NIOCore
import Synchronization

/// The open connections of a server, with their numbers per address and the bytes of their
/// responses that are in memory because they have not been read yet.
package final class Connections: Sendable {
    /// The limits on connections and on unread responses.
    package struct Limits: Sendable {
        /// The maximum number of connections, in total and from one address.
        var all: Int
        var perAddress: Int
        /// `true` when loopback connections count toward their address; `false` when they are a proxy's.
        var countsLoopback: Bool
        /// The addresses of proxies, whose connections count toward no address.
        var proxies: Set<String> = []
        /// The maximum number of response bytes that wait for their readers.
        var answerBytes: Int
        /// The time that a reader has before its connection may be closed to free memory for others.
        var patience: Duration = .seconds(2)

        /// Creates limits.
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
        /// The address that the connection counts toward; nil for a proxy's.
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

    /// The number of open connections.
    var count: Int { state.withLock(\.connections.count) }

    /// Counts a connection; returns false if there are too many.
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

    /// Returns the peer of a connection.
    func peer(of channel: any Channel) -> Peer {
        state.withLock { $0.connections[ObjectIdentifier(channel)]?.peer }
            ?? Peer(channel.remoteAddress, proxies: limits.proxies)
    }

    /// Removes a connection that has ended.
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

    // MARK: Responses that wait for their readers

    /// Counts a response that stays in memory until it is read.
    ///
    /// If the sum exceeds the limit, the connections with the slowest readers are closed.
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

    /// Removes the slowest connections from the sum until it is within the limit, and returns them.
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

    /// Removes a connection's response from the sum once it has been read.
    func release(_ channel: any Channel) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.answerBytes -= state.connections[id]?.answerBytes ?? 0
            state.connections[id]?.answerBytes = 0
        }
    }

    // MARK: Clients that go away

    /// Records that a connection's client has closed its side.
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

    /// Returns a stream that ends when the client of a connection disconnects.
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
