import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Origins are compared whole")
struct OriginTests {
    private static let foreign = [
        "http://localhost:x@evil.com", "http://localhost@evil.com", "http://localhost:80@evil.com",
        "http://127.0.0.1:3000@evil.com", "https://app.example.com@evil.com",
        "https://app.example.com.evil.com", "https://app.example.com:8443",
        "http://app.example.com", "https://app.example.com:443x", "https://app.example.com/",
        "https://app.example.com#", "https://evil.com/app.example.com", "http://localhost.evil.com",
        "http://127.0.0.1.evil.com", "http://evil.com#@localhost", "http://evil.com?localhost",
        "http://evil.com/localhost", "http://localhost\\@evil.com", "http://[::1]x", "http://[::1",
        "http://localhost:", "http://localhost:99999", "http://", "localhost", "null", "file://",
        "ftp://localhost", "capacitor://localhost",
    ]
    private static let own = [
        "http://localhost", "http://localhost:3000", "http://app.localhost:3000",
        "https://127.0.0.1:8443", "http://[::1]:3000", "https://app.example.com",
        "https://app.example.com:443", "HTTPS://APP.EXAMPLE.COM", "ionic://app.example.com",
    ]

    private static func run(
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration()
        configuration.allowedOrigins = ["https://app.example.com", "ionic://app.example.com"]
        try await TestServer.run(configuration, test)
    }

    @Test("An origin that only begins like an allowed one may not call")
    func calls() async throws {
        try await Self.run { server in
            let url = server.endpoint("zones/list")
            for origin in Self.foreign {
                let response = try await server.send(url, headers: [("Origin", origin)])
                #expect(response.status == 403, "\(origin)")
                #expect(response.headers["access-control-allow-origin"] == nil, "\(origin)")
            }
            for origin in Self.own {
                let response = try await server.send(url, headers: [("Origin", origin)])
                #expect(response.status == 200, "\(origin)")
            }
        }
    }

    @Test("The page for signing in gives no foreign origin the token")
    func signIn() async throws {
        try await Self.run { server in
            let users = try await server.service?.users(container: TestServer.container)
            let name = try #require(users?.first?.userRecordName)
            for (origins, isTold) in [(Self.foreign, false), (Self.own, true)] {
                for origin in origins {
                    let response = try await server.send(
                        "\(server.url)/sign-in?ckAPIToken=\(server.apiToken)&origin="
                            + FixtureCloud.escape(origin),
                        Data("user=\(name)".utf8)
                    )
                    #expect(response.status == 200)
                    let page = String(decoding: response.data, as: UTF8.self)
                    #expect(page.contains("data-origin=\"\(origin)\"") == isTold, "\(origin)")
                    #expect(page.contains("data-origin=\"\"") != isTold, "\(origin)")
                }
            }
        }
    }

    @Test("A Host that has more than a name and a port is refused")
    func hosts() async throws {
        try await TestServer.run { server in
            for host in [
                "localhost:x@evil.com", "localhost@evil.com", "localhost:", "127.0.0.1.evil.com",
                "localhost/evil.com", "[::1]evil.com", "",
            ] {
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send(
                        "POST",
                        server.target("zones/list"),
                        ["Host: \(host)"],
                        body: "{}"
                    )
                    return try await connection.response()
                }
                #expect(response.map { $0.status >= 400 } ?? true, "\(host)")
            }
        }
    }

    @Test("Settings that are no origins and no names are refused with an example")
    func settings() {
        for change in [
            { $0.allowedOrigins = ["app.example.com"] },
            { $0.allowedOrigins = ["https://app.example.com/"] },
            { $0.allowedHosts = ["https://cloud.example.com"] },
            { $0.publicURL = "cloud.example.com" },
        ] as [(inout CloudServer.Configuration) -> Void] {
            var configuration = CloudServer.Configuration()
            change(&configuration)
            let error = #expect(throws: ServerConfigurationError.self) {
                _ = try CloudServer(configuration: configuration)
            }
            #expect(error?.description.contains("example.com") == true)
        }
    }
}
