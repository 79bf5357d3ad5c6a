import AsyncHTTPClient
import CloudKitWebClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

extension MisbehavingServerTests {
    /// Responses of a proxy to `CONNECT`.
    static let proxies = [
        Response("hangs up", [.close], .transport(.broken)),
        Response("is silent", [], .transport(.timedOut)),
        Response("speaks another protocol", [.text("SSH-2.0-x\r\n")], .transport(.timedOut)),
        Response(
            "asks for a password",
            [
                .text(
                    "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                        + "Content-Length: 0\r\n\r\n"
                )
            ],
            .transport(.refused)
        ),
        Response(
            "cannot reach the server",
            [.text("HTTP/1.1 502 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")],
            .transport(.unreachable)
        ),
        Response(
            "redirects",
            [.text("HTTP/1.1 302 No\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n")],
            .transport(.unreachable)
        ),
        Response(
            "makes a tunnel and is silent",
            [.text("HTTP/1.1 200 OK\r\n\r\n")],
            .transport(.timedOut)
        ),
        Response(
            "makes a tunnel and hangs up",
            [.text("HTTP/1.1 200 OK\r\n\r\n"), .close],
            .transport(.broken)
        ),
        Response(
            "makes a tunnel to a server without TLS",
            // In one piece: what follows the tunnel's head is lost with the decoder that read it.
            [.text("HTTP/1.1 200 OK\r\n\r\n" + good)],
            .transport(.timedOut)
        ),
    ]

    private func http(
        roots: [String] = [TestAuthority.certificate],
        proxy: Int? = nil
    ) throws -> HTTPClient {
        var configuration = HTTPClients.configuration(
            8,
            proxy.map { .server(host: "127.0.0.1", port: $0) },
            .certificates(try roots.map(ReplyServer.certificate))
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    @Test("A proxy that makes no way ends the call, and is shown no token", arguments: proxies)
    func proxy(_ response: Response) async throws {
        try await RawServer.run { _ in
            response.steps
        } _: { port, server in
            let http = try http(proxy: port)
            var client = client(1, https: true, HTTPTransport(client: http))
            client.timeout = response.outcome == .transport(.timedOut) ? 0.3 : 30
            let found = await outcome { () async throws(WebClientError) in
                try await client.listZones(in: .private)
            }
            #expect(found == response.outcome)
            #expect(server.requests.count == 1)
            for request in server.requests { SecrecyTests.expectSilence(of: request) }
            try await http.shutdown()
        }
    }

    @Test("A certificate of another name, or of another time, is reported and not asked for again")
    func certificates() async throws {
        // An address in a certificate would match the proxy's own, whatever the name is.
        let cases = [
            ("other.example", TestAuthority.elsewhere, TestAuthority.elsewhereKey),
            ("localhost", TestAuthority.expired, TestAuthority.expiredKey),
        ]
        try await TestProxy.run { proxy, _ in
            for (host, certificate, key) in cases {
                let tls = try NIOSSLContext(
                    configuration: .makeServerConfiguration(
                        certificateChain: [.certificate(try ReplyServer.certificate(certificate))],
                        privateKey: .privateKey(try ReplyServer.key(key))
                    )
                )
                try await RawServer.run(tls: tls) { _ in
                    [.text(Self.good)]
                } _: { port, server in
                    // The proxy resolves every name to this machine.
                    let http = try http(roots: [certificate], proxy: proxy)
                    var client = WebClient(
                        url: "https://\(host):\(port)",
                        container: "c",
                        environment: .development,
                        credentials: WebCredentials(
                            apiToken: SecrecyTests.Secret.api,
                            webAuthToken: SecrecyTests.Secret.user
                        ),
                        transport: HTTPTransport(client: http)
                    )
                    client.retryPolicy = .patient
                    let found = await outcome { () async throws(WebClientError) in
                        try await client.listZones(in: .private)
                    }
                    #expect(found == .transport(.untrusted), "\(host)")
                    #expect(server.requests.isEmpty)
                    try await http.shutdown()
                }
            }
        }
    }

    @Test("A server without TLS at an https address is an error, as one with it at an http address")
    func mixedUp() async throws {
        try await ReplyServer.run { _ in
            .response(200, "{}")
        } _: { port, server in
            let http = try http()
            let found = await outcome { () async throws(WebClientError) in
                try await client(port, https: true, HTTPTransport(client: http))
                    .listZones(in: .private)
            }
            #expect(found != .success)
            #expect(server.requests.isEmpty)
            try await http.shutdown()
        }
        try await RawServer.run(tls: ReplyServer.tls()) { _ in
            [.text(Self.good)]
        } _: { port, server in
            let found = await outcome { () async throws(WebClientError) in
                try await client(port, HTTPTransport()).listZones(in: .private)
            }
            #expect(found != .success)
            #expect(server.requests.isEmpty)
        }
    }

    /// Bytes that inflate to 158 times their number, with no end.
    static func bomb(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        // The last block, with fixed codes; a zero; then repeatedly 258 bytes from one before.
        var bits = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
        while bytes.count < count {
            bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
            while bits.count >= 8 {
                bytes.append(bits.prefix(8).enumerated().reduce(0) { $0 | UInt8($1.1 << $1.0) })
                bits.removeFirst(8)
            }
        }
        return Array(bytes.prefix(count))
    }

    @Test("What inflates beyond all measure is left, and not asked for again")
    func bombs() async throws {
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClients.configuration(largestBody: 1 << 20)
        )
        let bomb = Self.bomb(1 << 16)
        try await RawServer.run { _ in
            [
                .text(
                    Self.begin + "Content-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
                ),
                .send(bomb),
            ]
        } _: { port, server in
            var client = client(port, HTTPTransport(client: http))
            client.retryPolicy = .patient
            let found = await outcome { () async throws(WebClientError) in
                try await client.listZones(in: .private)
            }
            #expect(found == .transport(.oversized))
            #expect(server.requests.count == 1)
        }
        try await http.shutdown()
    }
}
