import BenchmarkHarness
import CloudKitWebClient
import Foundation

extension Benchmark {
    /// The benchmarks of 10,000 requests that wait for notifications on one server: the memory that
    /// each takes, and the time in which a change reaches the ten devices of its user.
    ///
    /// Both are numbers, not ratios. The clients are plain sockets in this process, so that the
    /// server's process holds nothing of theirs; the kernel's memory for connections is not
    /// counted.
    static var longPolls: [Benchmark] {
        let polls = Prepared { try await LongPolls(users: 1000, devices: 10) }
        return [
            Benchmark(name: "long-polls-10000", bar: .atMost(20)) { _ in
                let polls = try await polls.value
                let (before, after) = (polls.kilobytesBefore, polls.kilobytesAfter)
                return Figure(
                    Double(after - before) / Double(polls.count),
                    detail: "kilobytes of each of \(polls.count) waiting requests, VmRSS from "
                        + "\(before / 1024) to \(after / 1024) MB; they began to wait within "
                        + "\(polls.opening)"
                )
            },
            Benchmark(name: "long-poll-wake-10000", bar: .atMost(20)) { rounds in
                let polls = try await polls.value
                var times: [Double] = []
                for user in 0..<rounds.count {
                    times.append(try await polls.wake(user) / .milliseconds(1))
                }
                polls.end()
                times.sort()
                return Figure(
                    times[times.count / 2],
                    detail:
                        "milliseconds from the request with a change to the tenth notification, "
                        + "with \(polls.count) waiting; \(times.count) changes, from "
                        + "\(Figure(times[0], detail: "").value) to "
                        + "\(Figure(times[times.count - 1], detail: "").value)"
                )
            },
        ]
    }
}

/// A server in its own process, and the connections on which devices wait.
private struct LongPolls: Sendable {
    private let process: Process
    private let users: [PollingUser]
    /// The connections of each user's devices.
    private let sockets: [[PollSocket]]
    /// The size of the server's process before and while the requests wait.
    let kilobytesBefore: Int
    let kilobytesAfter: Int
    let opening: Duration

    var count: Int { sockets.reduce(0) { $0 + $1.count } }

    init(users: Int, devices: Int) async throws {
        // Each side needs one file descriptor for a connection, and some more.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let most = Int(clamping: limit.rlim_cur) - 500
        let possible = min(users, most / devices)
        (process, self.users) = try PollingUser.startServer(users: possible, devices: devices)
        let address = self.users[0].address
        try await Task.sleep(for: .seconds(1))
        kilobytesBefore = try Self.kilobytes(process)
        let start = ContinuousClock.now
        sockets = try self.users.map { user in
            try user.paths.map { try PollSocket(port: user.port, path: $0) }
        }
        while try await Self.waiting(at: address) < possible * devices {
            guard ContinuousClock.now - start < .seconds(120) else {
                throw BenchError(
                    description: "\(try await Self.waiting(at: address)) requests wait"
                )
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        opening = ContinuousClock.now - start
        try await Task.sleep(for: .seconds(1))
        kilobytesAfter = try Self.kilobytes(process)
    }

    /// Changes a record of a user, and returns the time until all devices of the user know.
    func wake(_ user: Int) async throws -> Duration {
        let (sockets, user) = (sockets[user], users[user])
        let start = ContinuousClock.now
        async let last = withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try PollSocket.waitForAll(sockets) })
            }
        }
        let response = try await HTTPTransport().send(user.change)
        guard response.status == 200 else {
            throw BenchError(description: String(decoding: response.body, as: UTF8.self))
        }
        return try await last - start
    }

    /// Ends the server.
    func end() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Returns the number of requests that wait on the server.
    private static func waiting(at address: String) async throws -> Int {
        let response = try await HTTPTransport().send(
            TransportRequest(method: "GET", url: address + "/metrics")
        )
        let line = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            .last { $0.hasPrefix("cloudkit_waiting_requests ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
    }

    private static func kilobytes(_ process: Process) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(process.processIdentifier)/status",
            encoding: .utf8
        )
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        guard let kilobytes = Int(line.filter(\.isNumber)) else {
            throw BenchError(description: "The server's process has ended")
        }
        return kilobytes
    }
}

/// A connection on which a device waits for a notification.
private struct PollSocket: Sendable {
    private let descriptor: Int32

    /// Connects, and sends the request that waits.
    init(port: Int, path: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                connect(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        guard isConnected, write(descriptor, request, request.count) == request.count else {
            throw BenchError(
                description: "A connection failed: \(String(cString: strerror(errno)))"
            )
        }
    }

    /// Waits until each connection has its response; returns when the last one came.
    static func waitForAll(_ sockets: [PollSocket]) throws -> ContinuousClock.Instant {
        var last = ContinuousClock.now
        for socket in sockets {
            var event = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&event, 1, 10_000) == 1 else {
                throw BenchError(description: "A notification did not come within 10 s")
            }
            last = ContinuousClock.now
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(socket.descriptor, &bytes, bytes.count)
            let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            guard text.hasPrefix("HTTP/1.1 200"), !text.hasSuffix("\r\n\r\n") else {
                throw BenchError(description: "No notification, but: \(text)")
            }
        }
        return last
    }
}
