import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Requests of this machine, and those that only look like it")
struct LocalRequestTests {
    /// Returns a configuration for a proxy on the same machine.
    private static func proxied(by setting: String) -> CloudServer.Configuration {
        var configuration = CloudServer.Configuration()
        switch setting {
        case "public URL": configuration.publicURL = "https://cloud.example.com"
        default: configuration.allowedHosts = ["cloud.example.com"]
        }
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        return configuration
    }

    /// Headers that proxies add.
    private static let forwarding = [
        ("X-Forwarded-For", "192.0.2.7"), ("X-Forwarded-Host", "cloud.example.com"),
        ("X-Forwarded-Proto", "https"), ("Forwarded", "for=192.0.2.7"), ("Via", "1.1 proxy"),
        ("X-Real-IP", "192.0.2.7"), ("CF-Connecting-IP", "192.0.2.7"),
        ("X-Client-IP", "192.0.2.7"), ("True-Client-IP", "192.0.2.7"),
        ("X-Forwarded", "for=192.0.2.7"), ("X-Original-Forwarded-For", "192.0.2.7"),
        ("Forwarded-For", "192.0.2.7"), ("X-Cluster-Client-IP", "192.0.2.7"),
        ("Fastly-Client-IP", "192.0.2.7"), ("X-Azure-ClientIP", "192.0.2.7"),
        ("X-Envoy-External-Address", "192.0.2.7"), ("CDN-Loop", "x"), ("CF-Ray", "x"),
        ("X-Scheme", "https"), ("X-Url-Scheme", "https"), ("Front-End-Https", "on"),
        ("X-ARR-SSL", "x"), ("X-Request-Start", "t=1"), ("X-Host", "cloud.example.com"),
        ("X-Rewrite-URL", "/sign-in"),
    ]

    private static func userName(_ server: TestServer) async throws -> String {
        let users = try await server.service?.users(container: TestServer.container)
        return try #require(users?.first?.userRecordName)
    }

    /// Returns whether a response contained a token.
    private static func hasToken(_ response: TestServer.Response) -> Bool {
        String(decoding: response.data, as: UTF8.self).contains("158__54__")
            || response.headers.values.contains { $0.contains("158__54__") }
    }

    @Test(
        "Behind a proxy nobody signs in without a password, whatever Host the request has",
        arguments: ["cloud.example.com", "127.0.0.1", "localhost"],
        ["public URL", "allowed host"]
    )
    func proxy(host: String, setting: String) async throws {
        try await TestServer.run(Self.proxied(by: setting)) { server in
            let name = try await Self.userName(server)
            let url = "\(server.url)/sign-in?ckAPIToken=\(server.apiToken)"
            let chosen = try await server.send(
                url,
                headers: [("Host", host)],
                Data("user=\(name)".utf8)
            )
            #expect(chosen.status >= 400)
            #expect(!Self.hasToken(chosen))
            let page = try await server.send(url, method: "GET", headers: [("Host", host)])
            #expect(page.status == 200)
            #expect(!String(decoding: page.data, as: UTF8.self).contains(name))
            let metrics = try await server.send(
                server.url + "/metrics",
                method: "GET",
                headers: [("Host", host)]
            )
            #expect([403, 404].contains(metrics.status))
        }
    }

    @Test("A request that a proxy passed on is not local, though its Host says so")
    func forwarded() async throws {
        var configuration = CloudServer.Configuration()
        configuration.service.acceptsUserNames = true
        try await TestServer.run(configuration) { server in
            let name = try await Self.userName(server)
            let url = "\(server.url)/sign-in?ckAPIToken=\(server.apiToken)"
            let private_ =
                server.url
                + "/database/1/\(TestServer.container)/development/private/zones/list"
                + "?ckAPIToken=\(server.apiToken)"
            let local = [("X-CloudKit-User", "Ada")]
            #expect(try await server.send(private_, headers: local).status == 200)
            for header in Self.forwarding {
                let chosen = try await server.send(
                    url,
                    headers: [header],
                    Data("user=\(name)".utf8)
                )
                #expect(chosen.status >= 400, "\(header.0)")
                #expect(!Self.hasToken(chosen), "\(header.0)")
                let named = try await server.send(private_, headers: local + [header])
                #expect(named.status == 421, "\(header.0)")
                let metrics = try await server.send(
                    server.url + "/metrics",
                    method: "GET",
                    headers: [header]
                )
                #expect(metrics.status == 403, "\(header.0)")
            }
            let chosen = try await server.send(url, Data("user=\(name)".utf8))
            #expect(Self.hasToken(chosen))
        }
    }

    @Test("What is for this machine alone does not start where a name of the outside leads to it")
    func configuration() throws {
        for change in [
            { $0.publicURL = "https://cloud.example.com" },
            { $0.allowedHosts = ["cloud.example.com"] },
            { $0.host = "0.0.0.0" },
        ] as [(inout CloudServer.Configuration) -> Void] {
            for setting in [
                { $0.service.acceptsUserNames = true }, { $0.service.opensContainers = true },
                { $0.hasVirtualClock = true },
            ] as [(inout CloudServer.Configuration) -> Void] {
                var configuration = CloudServer.Configuration()
                setting(&configuration)
                _ = try CloudServer(configuration: configuration)
                change(&configuration)
                #expect(throws: ServerConfigurationError.self) {
                    _ = try CloudServer(configuration: configuration)
                }
            }
            var configuration = CloudServer.Configuration()
            change(&configuration)
            #expect(try CloudServer(configuration: configuration).administrationKey == nil)
        }
    }

    @Test("Two Host headers are refused, whichever of them is allowed")
    func hosts() async throws {
        try await TestServer.run { server in
            for hosts in [["127.0.0.1", "evil.example"], ["127.0.0.1", "127.0.0.1"]] {
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send(
                        "POST",
                        server.target("zones/list"),
                        hosts.map { "Host: \($0)" },
                        body: "{}"
                    )
                    return try await connection.response()
                }
                #expect(response?.status == 400)
            }
        }
    }

    @Test("A target that names another host than Host is refused, whichever of them is allowed")
    func absoluteTargets() async throws {
        try await TestServer.run { server in
            let target = server.target("zones/list")
            let cases: [(String, String, Int)] = [
                ("http://cloud.example.com", "127.0.0.1", 400),
                ("http://127.0.0.1", "cloud.example.com", 400),
                ("http://127.0.0.1:81", "127.0.0.1", 400), ("ftp://127.0.0.1", "127.0.0.1", 400),
                ("http://127.0.0.1@evil.example", "127.0.0.1", 400),
                ("http://127.0.0.1", "127.0.0.1", 200), ("http://localhost:80", "localhost", 200),
            ]
            for (origin, host, status) in cases {
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send(
                        "POST",
                        origin + target,
                        ["Host: \(host)"],
                        body: "{}"
                    )
                    return try await connection.response()
                }
                #expect(response?.status == status, "\(origin) \(host)")
            }
        }
    }
}
