#if PostgreSQL
import Foundation
import ProcessFixtures

/// HAProxy before the nodes, configured as docs/operating/self-hosting.md says; it ends with the process.
final class Proxy: Sendable {
    private static let program = "/usr/sbin/haproxy"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    let port: Int
    /// It ends when this is closed, however the process ends.
    private let input = Pipe()

    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts it before nodes at some ports, and returns as soon as it listens.
    init(nodes: [Int]) async throws {
        port = try FreePort.next()
        let servers = nodes.enumerated()
            .map { "    server node\($0.offset + 1) 127.0.0.1:\($0.element)" }
        let configuration = """
            defaults
                mode http
                timeout connect 2s
                timeout client 90s
                timeout server 90s
                timeout check 2s
                option redispatch 1
                retries 3
            frontend cloud
                bind 127.0.0.1:\(port)
                default_backend nodes
            backend nodes
                balance roundrobin
                option httpchk GET /health/ready
                option forwardfor
                default-server check inter 1s fastinter 200ms downinter 200ms fall 2 rise 1
            \(servers.joined(separator: "\n"))

            """
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-haproxy-\(UUID().uuidString).cfg")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            # Not ignored, as HAProxy would ignore them too.
            trap : INT TERM HUP
            \(Self.program) -f "$0" -D -p "$0.pid" >"$0.log" 2>&1 && echo up
            cat >/dev/null
            kill $(cat "$0.pid")
            rm -f "$0" "$0.pid" "$0.log"
            """, file.path,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard await output.firstLine() == "up" else { throw CocoaError(.fileReadUnknown) }
    }
}

/// Ports that nobody listens at, and that no outgoing connection takes while their server is down.
enum FreePort {
    static func next() throws -> Int {
        for _ in 0..<1000 {
            // Below those that systems give to outgoing connections.
            let port = Int.random(in: 20_000..<32_000)
            if isFree(port) { return port }
        }
        throw CocoaError(.fileReadUnknown)
    }

    private static func isFree(_ port: Int) -> Bool {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
#endif
