#if PostgreSQL
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The network between a node and its database: a port of this machine whose connections go on to a
/// server's socket, and can be cut and held up.
package final class Network: Sendable {
    /// A failure of one commit, whose connection is cut.
    package enum CommitFault: Sendable {
        /// The server does not learn of it.
        case lost
        /// The server makes it, and the node does not learn of that.
        case unanswered
    }

    private struct State {
        var connections: [Int: Connection] = [:]
        var last = 0
        var isDown = false
        var fault: CommitFault?
    }

    private let listener: Int32
    private let state = Mutex(State())
    private let door = Door()
    private let socket: String

    /// The port at which nodes connect.
    package let port: UInt16

    /// Creates a network to a server.
    package init(to server: PostgresServer) throws {
        socket = server.socket
        let listener = Self.newSocket(AF_INET)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        Thread.detachNewThread { [weak self] in
            while true {
                let socket = Self.accept(listener)
                guard socket >= 0 else { return }
                self?.take(socket)
            }
        }
    }

    deinit {
        // Ends the wait for the next connection.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        for connection in state.withLock({ Array($0.connections.values) }) { connection.cut() }
    }

    /// Returns the address of a database of the server through this network.
    package func address(of database: String) -> String {
        let name = database.split(separator: "=").last ?? ""
        return "host=127.0.0.1 port=\(port) user=cloud dbname=\(name)"
    }

    /// The number of open connections.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Cuts all connections; others are possible at once.
    package func cut() {
        for connection in state.withLock({ Array($0.connections.values) }) { connection.cut() }
    }

    /// Cuts all connections, and refuses others until `resume`.
    package func takeDown() {
        state.withLock { $0.isDown = true }
        cut()
    }

    /// Lets nothing pass until `resume`, and nobody know.
    package func stall() { door.set(closed: true) }

    /// Lets everything pass again, and what was held up first.
    package func resume() {
        state.withLock { $0.isDown = false }
        door.set(closed: false)
    }

    /// Lets something happen to the next commit.
    package func fail(nextCommit fault: CommitFault) { state.withLock { $0.fault = fault } }

    /// `true` while a fault waits for its commit.
    package var hasFault: Bool { state.withLock { $0.fault != nil } }

    // MARK: Connections

    private final class Connection: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        /// Ends both sides; whoever waits for bytes gets none.
        func cut() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }

        deinit {
            close(client)
            close(server)
        }
    }

    private static func newSocket(_ family: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
        Musl.socket(family, SOCK_STREAM, 0)
        #else
        Darwin.socket(family, SOCK_STREAM, 0)
        #endif
    }

    private static func accept(_ listener: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.accept(listener, nil, nil)
        #elseif canImport(Musl)
        Musl.accept(listener, nil, nil)
        #else
        Darwin.accept(listener, nil, nil)
        #endif
    }

    private func take(_ client: Int32) {
        let server = Self.newSocket(AF_UNIX)
        let connection = Connection(client: client, server: server)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let isOpen = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(server, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        let number = state.withLock { state -> Int? in
            guard isOpen, !state.isDown else { return nil }
            state.last += 1
            state.connections[state.last] = connection
            return state.last
        }
        guard let number else { return }
        for isRequest in [true, false] {
            Thread.detachNewThread { [self] in
                pass(connection, isRequest)
                connection.cut()
                state.withLock { $0.connections[number] = nil }
            }
        }
    }

    /// Passes bytes on in one direction until the connection ends.
    private func pass(_ connection: Connection, _ isRequest: Bool) {
        let (source, target) =
            isRequest
            ? (connection.client, connection.server) : (connection.server, connection.client)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            door.pass()
            let part = buffer[..<count]
            if meetsFault(isRequest ? .lost : .unanswered, part) { return }
            var sent = 0
            while sent < count {
                let written = part.withUnsafeBytes {
                    send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { return }
                sent += written
            }
        }
    }

    /// Returns whether bytes carry a commit, or the response to one, that is to fail.
    private func meetsFault(_ fault: CommitFault, _ bytes: ArraySlice<UInt8>) -> Bool {
        state.withLock { state in
            guard state.fault == fault, Data(bytes).range(of: Data("COMMIT\0".utf8)) != nil
            else { return false }
            state.fault = nil
            return true
        }
    }
}

/// A door that threads wait at while it is closed.
private final class Door: Sendable {
    private let condition = NSCondition()
    // Changed and read under the condition's lock alone.
    nonisolated(unsafe) private var isClosed = false

    func set(closed: Bool) {
        condition.withLock {
            isClosed = closed
            condition.broadcast()
        }
    }

    func pass() {
        condition.withLock { while isClosed { condition.wait() } }
    }
}
#endif
