import CloudKitServerCore
package import NIOCore
import Synchronization

/// A limit that refuses a connection.
package enum ConnectionLimit: Hashable, Sendable {
    /// The connections of all addresses, or of the one that the connection came from, and the limit.
    case all(Int), address(Int)

    /// The limit with the setting that raises it.
    var description: String {
        switch self {
        case .all(let limit): "its \(limit) connections (--max-connections)"
        case .address(let limit):
            "\(limit) connections from one address (--max-connections-per-address)"
        }
    }
}

/// The open connections of a server, with their numbers per address and the bytes of responses
/// that are in memory because they are being built or have not been read yet.
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
        /// The maximum number of bytes of responses that are built or wait for their readers.
        var responseBytes: Int
        /// The time that a reader has before its connection may be closed to free memory for others.
        var patience: Duration = .seconds(2)
        /// The time that a response waits for memory before it is refused.
        var waiting: Duration = .seconds(5)

        /// Creates limits.
        package init(
            all: Int,
            perAddress: Int,
            countsLoopback: Bool,
            proxies: Set<String> = [],
            responseBytes: Int
        ) {
            self.proxies = proxies
            self.all = all
            self.perAddress = perAddress
            self.countsLoopback = countsLoopback
            self.responseBytes = responseBytes
        }
    }

    private struct Connection {
        let channel: any Channel
        let peer: Peer
        /// The address that the connection counts toward; nil for a proxy's.
        let address: String?
        var responseBytes = 0
        var respondedSince = ContinuousClock.now
        /// Receives the news that the connection is closed although its response was not read.
        var noteCut: (@Sendable () -> Void)?
        /// The closures to be called when the client has disconnected.
        var leaveWatchers: [Int: @Sendable () -> Void] = [:]
        var hasLeft = false

        /// Closes the connection, outside of the lock.
        func cut() {
            noteCut?()
            channel.close(promise: nil)
        }
    }

    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var addresses: [String: Int] = [:]
        /// The bytes of all responses, those that are being built among them.
        var responseBytes = 0
        var lastWatcher = 0
    }

    private let limits: Limits
    private let state = Mutex(State())
    private let stopping = Atomic(false)
    /// A closure that is called for each connection that is refused.
    private let noteRefusal: @Sendable (ConnectionLimit) -> Void

    package init(
        _ limits: Limits,
        noteRefusal: @escaping @Sendable (ConnectionLimit) -> Void = { _ in }
    ) {
        self.limits = limits
        self.noteRefusal = noteRefusal
    }

    /// The number of open connections.
    var count: Int { state.withLock(\.connections.count) }

    /// `true` when the server stops, so that each connection ends with its next response.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Records that the server stops.
    func stop() { stopping.store(true, ordering: .relaxed) }

    /// Counts a connection; returns the limit that refuses it if there are too many.
    func admit(_ channel: any Channel) -> ConnectionLimit? {
        let limit = count(channel)
        if let limit { noteRefusal(limit) }
        return limit
    }

    private func count(_ channel: any Channel) -> ConnectionLimit? {
        let peer = Peer(channel.remoteAddress, proxies: limits.proxies)
        let isProxy = !limits.countsLoopback && peer.isLoopback || peer.isTrusted
        let address = isProxy ? nil : peer.network
        return state.withLock { state in
            guard state.connections.count < limits.all else { return .all(limits.all) }
            if let address {
                guard state.addresses[address, default: 0] < limits.perAddress else {
                    return .address(limits.perAddress)
                }
                state.addresses[address, default: 0] += 1
            }
            state.connections[ObjectIdentifier(channel)] =
                Connection(channel: channel, peer: peer, address: address)
            return nil
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
            state.responseBytes -= gone.responseBytes
            if let address = gone.address {
                let left = state.addresses[address, default: 0] - 1
                state.addresses[address] = left > 0 ? left : nil
            }
        }
    }

    // MARK: Responses that wait for their readers

    /// The bytes of responses that are built or wait for their readers.
    package var responseBytes: Int { state.withLock(\.responseBytes) }

    /// Returns the memory of a response that is about to be built; it is returned when the memory
    /// is released.
    package func memory() -> Memory { Memory(connections: self) }

    /// Counts a response that stays in memory until it is read.
    ///
    /// If the sum exceeds the limit, the connections with the slowest readers are closed.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the response in memory.
    ///   - memory: What was reserved for it, which is returned.
    ///   - channel: Its connection.
    ///   - noteCut: A closure that is called if the server closes the connection before the
    ///     response was read.
    package func hold(
        _ bytes: Int,
        _ memory: Memory? = nil,
        for channel: any Channel,
        noteCut: @escaping @Sendable () -> Void = {}
    ) {
        let slow = state.withLock { state -> [Connection] in
            state.responseBytes -= memory?.take() ?? 0
            let id = ObjectIdentifier(channel)
            guard state.connections[id] != nil else { return [] }
            state.connections[id]?.responseBytes += bytes
            state.connections[id]?.respondedSince = .now
            state.connections[id]?.noteCut = noteCut
            state.responseBytes += bytes
            return Self.slowest(&state, limits, but: id) {
                $0.responseBytes <= limits.responseBytes
            }
        }
        for connection in slow { connection.cut() }
    }

    /// Removes the slowest connections from the sum until there is room, and returns them.
    private static func slowest(
        _ state: inout State,
        _ limits: Limits,
        but own: ObjectIdentifier? = nil,
        until hasRoom: (State) -> Bool
    ) -> [Connection] {
        guard !hasRoom(state) else { return [] }
        var closed: [Connection] = []
        let waiting = state.connections.filter { $0.value.responseBytes > 0 && $0.key != own }
            .sorted { $0.value.respondedSince < $1.value.respondedSince }
        for (id, connection) in waiting where !hasRoom(state) {
            guard ContinuousClock.now - connection.respondedSince >= limits.patience else { break }
            state.connections[id]?.responseBytes = 0
            state.responseBytes -= connection.responseBytes
            closed.append(connection)
        }
        return closed
    }

    /// Removes a connection's response from the sum once it has been read.
    func release(_ channel: any Channel) {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.responseBytes -= state.connections[id]?.responseBytes ?? 0
            state.connections[id]?.responseBytes = 0
            state.connections[id]?.noteCut = nil
        }
    }

    /// Closes a connection whose response was not read in time.
    func cut(_ channel: any Channel) {
        let connection = state.withLock { $0.connections[ObjectIdentifier(channel)] }
        connection?.cut()
    }

    /// The memory that one response takes while it is built.
    package final class Memory: ResponseMemory {
        private struct Reservation {
            var bytes = 0
            var waitingSince: ContinuousClock.Instant?
        }

        /// The time between two looks for room, which readers make at any moment.
        private static let interval = Duration.milliseconds(20)

        private let connections: Connections
        private let reservation = Mutex(Reservation())

        fileprivate init(connections: Connections) {
            self.connections = connections
        }

        /// Reserves memory for a number of bytes in total; returns false if there is not enough now.
        ///
        /// A response of any size is built while all others take at most half of the memory, since
        /// one that is larger than the memory would find no room ever.
        package func reserve(_ bytes: Int) -> Bool {
            let limit = connections.limits.responseBytes
            let (isReserved, slow) = connections.state.withLock { state in
                let own = reservation.withLock(\.bytes)
                let hasRoom = { (state: State) in
                    let others = state.responseBytes - own
                    return others + bytes <= limit || others <= limit / 2
                }
                let slow = Connections.slowest(&state, connections.limits, until: hasRoom)
                guard hasRoom(state) else { return (false, slow) }
                state.responseBytes += bytes - own
                reservation.withLock { $0.bytes = bytes }
                return (true, slow)
            }
            for connection in slow { connection.cut() }
            return isReserved
        }

        /// Returns what is reserved, and waits until a number of bytes can be reserved; returns
        /// false if all waits of the response together take too long.
        package func waitToReserve(_ bytes: Int) async -> Bool {
            connections.state.withLock { $0.responseBytes -= take() }
            let since = reservation.withLock { reservation in
                reservation.waitingSince = reservation.waitingSince ?? .now
                return reservation.waitingSince ?? .now
            }
            while !reserve(bytes) {
                // A request that is cancelled is refused like one that has waited in vain.
                guard ContinuousClock.now - since < connections.limits.waiting,
                    (try? await Task.sleep(for: Self.interval)) != nil
                else { return false }
            }
            return true
        }

        /// Takes the reservation out, for who subtracts it from the sum.
        fileprivate func take() -> Int {
            reservation.withLock { reservation in
                defer { reservation.bytes = 0 }
                return reservation.bytes
            }
        }

        deinit {
            let bytes = take()
            guard bytes > 0 else { return }
            connections.state.withLock { $0.responseBytes -= bytes }
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
        for noteLeft in watchers.values { noteLeft() }
    }

    /// Calls a closure when the client of a connection disconnects, at once if it has already.
    ///
    /// - Returns: The number with which the watch ends; nil if the closure was called.
    func whenLeft(_ channel: any Channel, _ noteLeft: @escaping @Sendable () -> Void) -> Int? {
        let id = ObjectIdentifier(channel)
        let number = state.withLock { state -> Int? in
            guard state.connections[id]?.hasLeft == false else { return nil }
            state.lastWatcher += 1
            state.connections[id]?.leaveWatchers[state.lastWatcher] = noteLeft
            return state.lastWatcher
        }
        if number == nil { noteLeft() }
        return number
    }

    /// Ends a watch.
    func endWatch(_ number: Int?, of channel: any Channel) {
        guard let number else { return }
        state.withLock { state in
            state.connections[ObjectIdentifier(channel)]?.leaveWatchers[number] = nil
        }
    }
}
