import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import ServerFixtures
import Testing

@Suite("Behind a proxy")
struct ProxyTests {
    private static func configuration(
        trusting proxies: Set<String>
    ) -> CloudServer.Configuration {
        var configuration = CloudServer.Configuration(
            allowedHosts: ["cloud.example.com", "internal"]
        )
        configuration.trustedProxies = proxies
        return configuration
    }

    private static let forwarded = [
        ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "cloud.example.com"),
        ("X-Forwarded-For", "192.0.2.1"),
    ]

    /// Returns the address for an upload and that of the sign-in page in a request's responses.
    private static func addresses(
        _ server: TestServer,
        _ headers: [(String, String)]
    ) async throws -> (upload: String, signIn: String) {
        let body: JSON = ["tokens": [["recordType": "Photo", "fieldName": "image"]]]
        let response = try await server.send(
            server.endpoint("assets/upload"),
            headers: headers,
            try JSONEncoder().encode(body)
        )
        let nobody = try await server.send(
            server.endpoint("users/caller", webToken: "unknown"),
            headers: headers,
            Data("{}".utf8)
        )
        return (response.body.tokens[0].url.text ?? "", nobody.body.redirectURL.text ?? "")
    }

    @Test("What a trusted proxy says is where clients are sent")
    func trusted() async throws {
        try await TestServer.run(Self.configuration(trusting: ["127.0.0.1"])) { server in
            let (upload, signIn) = try await Self.addresses(server, Self.forwarded)
            #expect(upload.hasPrefix("https://cloud.example.com/assets/upload/"))
            #expect(signIn.hasPrefix("https://cloud.example.com/sign-in?"))
            // The last value is the proxy's own; those before it may be anyone's.
            let (chained, _) = try await Self.addresses(
                server,
                [
                    ("X-Forwarded-Proto", "http, https"),
                    ("X-Forwarded-Host", "evil.example, cloud.example.com"),
                ]
            )
            #expect(chained.hasPrefix("https://cloud.example.com/"))
        }
    }

    @Test("Nobody else is believed")
    func untrusted() async throws {
        for proxies in [[], ["192.0.2.9"]] as [Set<String>] {
            try await TestServer.run(Self.configuration(trusting: proxies)) { server in
                let (upload, signIn) = try await Self.addresses(server, Self.forwarded)
                #expect(upload.hasPrefix(server.url))
                #expect(signIn.hasPrefix(server.url))
            }
        }
    }

    @Test("A name that is not the server's is refused from a trusted proxy, too")
    func names() async throws {
        try await TestServer.run(Self.configuration(trusting: ["127.0.0.1"])) { server in
            for host in ["evil.example", "cloud.example.com@evil.example", "a b"] {
                let response = try await server.send(
                    server.endpoint("zones/list"),
                    headers: [("X-Forwarded-Host", host)],
                    Data("{}".utf8)
                )
                #expect(response.status == 403, "\(host)")
            }
        }
    }

    @Test("A server with a trusted proxy takes no request for one of this machine")
    func notLocal() async throws {
        try await TestServer.run(Self.configuration(trusting: ["127.0.0.1"])) { server in
            let metrics = try await server.send(server.url + "/metrics", method: "GET")
            #expect([403, 404].contains(metrics.status))
        }
    }

    /// A trusted proxy elsewhere, and one with another address of this machine.
    @Test(
        "Where proxies are named, what any other peer says of its client is not believed, whatever its address",
        arguments: ["192.0.2.9", "127.0.0.2", "::1"]
    )
    func otherLoopbackPeers(proxy: String) async throws {
        var configuration = Self.configuration(trusting: [proxy])
        configuration.administrationKey = "a key that only tests know"
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        try await TestServer.run(configuration) { server in
            func ask(_ key: String, from client: String) async throws -> Int {
                try await server.send(
                    server.url + "/_ck/overview",
                    method: "GET",
                    headers: [
                        ("Authorization", "Bearer \(key)"), ("X-Forwarded-For", client),
                        ("X-Forwarded-Host", "cloud.example.com"), ("X-Forwarded-Proto", "https"),
                    ]
                ).status
            }
            // Thirty wrong keys are the sender's, however many clients it names.
            for number in 0..<30 {
                #expect(try await ask("wrong", from: "198.51.100.\(number)") == 403)
            }
            #expect(try await ask("wrong", from: "198.51.100.77") == 429)
            #expect(try await ask("a key that only tests know", from: "198.51.100.78") == 429)
            // Neither are they clients of their own to whom passwords are guessed.
            let page = "\(server.url)/sign-in?ckAPIToken=\(server.apiToken)"
            for number in 0...30 {
                let response = try await server.send(
                    page,
                    headers: [("X-Forwarded-For", "203.0.113.\(number)")],
                    Data("name=n\(number)&password=guess".utf8)
                )
                #expect(response.status == (number < 30 ? 403 : 429), "\(number)")
            }
            // No peer has the privileges of loopback, with or without the headers.
            for headers in [Self.forwarded, []] {
                let metrics = try await server.send(
                    server.url + "/metrics",
                    method: "GET",
                    headers: headers
                )
                #expect([403, 429].contains(metrics.status))
                let chosen = try await server.send(page, method: "GET", headers: headers)
                #expect(!String(decoding: chosen.data, as: UTF8.self).contains("name=\"user\""))
            }
        }
    }

    @Test("A connection of this machine counts for its address where the proxy is another")
    func countedConnections() async throws {
        var configuration = Self.configuration(trusting: ["192.0.2.9"])
        configuration.maxConnectionsPerAddress = 1
        try await TestServer.run(configuration) { server in
            try await RawConnection.run(server) { first in
                try await first.send("GET", "/health/live")
                #expect(try await first.response()?.status == 200)
                let second = try await RawConnection.run(server) { connection in
                    try await connection.response()
                }
                #expect(second?.status == 503)
                #expect(second?.head.contains("Retry-After: 1") == true)
            }
        }
    }

    @Test("What is no address is refused at the start")
    func badAddress() {
        #expect(throws: ServerConfigurationError.self) {
            _ = try CloudServer(configuration: Self.configuration(trusting: ["proxy.internal"]))
        }
    }

    @Test("The operator is warned once of a proxy that the server does not know")
    func warning() async throws {
        func warnings(
            _ configuration: CloudServer.Configuration,
            _ headers: [(String, String)]
        ) async throws -> [[String: String]] {
            let lines = LogLines()
            let logger = Logger(label: "test") { _ in lines.handler }
            try await TestServer.run(
                CloudServer(configuration: configuration, logger: logger)
            ) { server in
                for _ in 0..<3 { _ = try await Self.addresses(server, headers) }
            }
            return lines.all.filter { $0["message"]?.contains("proxy") == true }
        }
        let unknown = try await warnings(CloudServer.Configuration(), Self.forwarded)
        #expect(unknown.count == 1)
        #expect(unknown.first?["level"] == "warning")
        #expect(unknown.first?["remedy"]?.contains("--public-url") == true)
        #expect(try await warnings(CloudServer.Configuration(), []).isEmpty)
        let trusted = Self.configuration(trusting: ["127.0.0.1"])
        #expect(try await warnings(trusted, Self.forwarded).isEmpty)
        let named = CloudServer.Configuration(publicURL: "https://cloud.example.com")
        #expect(try await warnings(named, Self.forwarded).isEmpty)
    }

    @Test("CloudKit JS 1.x sends and reads its token as ckSession")
    func sessions() async throws {
        try await TestServer.run { server in
            let url =
                server.url + "/database/1/\(TestServer.container)/development/private/users/caller"
                + "?ckAPIToken=\(server.apiToken)"
            let token = FixtureCloud.escape(server.webToken)
            let asked = try await server.send(url + "&ckSession=\(token)", method: "GET")
            #expect(asked.status == 200)
            let next = try #require(asked.headers["x-apple-cloudkit-session"])
            #expect(next == asked.headers["x-apple-cloudkit-web-auth-token"])
            let sent = try await server.send(
                url,
                method: "GET",
                headers: [("X-Apple-CloudKit-Session", next)]
            )
            #expect(sent.status == 200)
            #expect(sent.headers["x-apple-cloudkit-session"] != nil)
            let newer = try await server.send(url + "&ckWebAuthToken=\(token)", method: "GET")
            #expect(newer.headers["x-apple-cloudkit-session"] == nil)
            let other = try await server.send(url + "&ckSession=none", method: "GET")
            #expect(other.status == 421)
        }
    }

    @Test("An upload that announces too much is refused before its bytes come")
    func announcedUpload() async throws {
        try await TestServer.run { server in
            let body: JSON = ["tokens": [["recordType": "Photo", "fieldName": "image"]]]
            let place = try await server.call("assets/upload", body)
            let url = try #require(place.body.tokens[0].url.text)
            let path = String(url.dropFirst(server.url.count))
            let response = try await RawConnection.run(server) { connection in
                // Not a byte of it is ever sent.
                try await connection.send(
                    "POST",
                    path,
                    length: 60_000_000
                )
                return try await connection.response()
            }
            #expect(response?.status == 400)
        }
    }
}
