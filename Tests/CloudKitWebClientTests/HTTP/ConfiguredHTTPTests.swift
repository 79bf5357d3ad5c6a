import AsyncHTTPClient
import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Logging
import NIOHTTP1
import NIOPosix
import NIOSSL
import Support
import Testing

@Suite("HTTP as the app configures it", .timeLimit(.minutes(10)))
struct ConfiguredHTTPTests {
    private static func get(_ port: Int, _ host: String = "127.0.0.1") -> TransportRequest {
        TransportRequest(method: "GET", url: "https://\(host):\(port)/x", timeout: 30)
    }

    /// Returns a client that trusts the tests' authority, and may have a certificate.
    private func trusting(certificate: Bool = false) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try ReplyServer.certificate(TestAuthority.certificate)])
        if certificate {
            tls.certificateChain = [
                .certificate(try ReplyServer.certificate(TestAuthority.client))
            ]
            tls.privateKey = .privateKey(try ReplyServer.key(TestAuthority.clientKey))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    @Test("A private authority is trusted by the app's own client, by number and by name")
    func privateAuthority() async throws {
        let http = try trusting()
        try await ReplyServer.run(tls: ReplyServer.tls()) { _ in
            .response(200, "{}")
        } _: { port, _ in
            for host in ["127.0.0.1", "localhost"] {
                let response = try await HTTPTransport(client: http).send(Self.get(port, host))
                #expect(response.status == 200)
            }
        }
        try await http.shutdown()
    }

    @Test("A response from where the app's client was sent on to is an error, not believed")
    func redirects() async throws {
        let http = try trusting()
        try await ReplyServer.run { _ in
            .response(200, "{}", [("X-Apple-CloudKit-Web-Auth-Token", "foreign")])
        } _: { foreign, _ in
            try await ReplyServer.run { _ in
                .response(307, "", [("Location", "http://localhost:\(foreign)/")])
            } _: { port, _ in
                let request = TransportRequest(
                    method: "GET",
                    url: "http://127.0.0.1:\(port)/",
                    timeout: 30
                )
                let error = await #expect(throws: TransportError.self) {
                    _ = try await HTTPTransport(client: http).send(request)
                }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("redirectConfiguration") == true)
                // The package's own client follows no redirect.
                let own = try await HTTPTransport().send(request)
                #expect(own.status == 307)
            }
        }
        try await http.shutdown()
    }

    @Test("A server that asks for a client's certificate gets the app's, or its lack is reported")
    func clientCertificate() async throws {
        let (known, unknown) = (try trusting(certificate: true), try trusting())
        let tls = try ReplyServer.tls(asksForCertificate: true)
        try await ReplyServer.run(tls: tls) { _ in
            .response(200, "{}")
        } _: { port, _ in
            let response = try await HTTPTransport(client: known).send(Self.get(port))
            #expect(response.status == 200)
            let error = await #expect(throws: TransportError.self) {
                _ = try await HTTPTransport(client: unknown).send(Self.get(port))
            }
            #expect(error?.message.contains("127.0.0.1:\(port)") == true)
        }
        try await known.shutdown()
        try await unknown.shutdown()
    }

    @Test(
        "A certificate that is not trusted is reported at once, and asked for once"
    )
    func untrusted() async throws {
        try await ReplyServer.run(tls: ReplyServer.tls()) { _ in
            .response(200, "{}")
        } _: { port, server in
            let clock = JumpingClock()
            var client = WebClient(
                url: "https://127.0.0.1:\(port)",
                container: "c",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u")
            )
            client.retryPolicy = .patient
            client.clock = clock
            let error = await #expect(throws: WebClientError.self) { try await client.caller() }
            guard case .transport(let failure) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.code == .untrusted, "\(failure)")
            #expect(failure.message.contains("https://127.0.0.1:\(port)"))
            #expect(failure.message.contains("SSL_CERT_FILE"))
            let database = CKContainer(client: client).privateCloudDatabase
            let told = await #expect(throws: CKError.self) { try await database.allRecordZones() }
            #expect(told?.code == .networkFailure)
            // The advice of other network failures does not apply.
            let text = String(describing: told)
            #expect(text.contains("make the certificates agree") && !text.contains("try again"))
            #expect(clock.jumps == [])
            #expect(server.requests.isEmpty)
        }
    }

    @Test("SSL_CERT_FILE and HTTPS_PROXY lead every request through the proxy to a private server")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("ca.pem")
            try Data(TestAuthority.certificate.utf8).write(to: file)
            let basic = "basic " + Data("ada:pass word".utf8).base64EncodedString()
            try await TestProxy.run(authorization: basic) { proxyPort, proxy in
                setenv("SSL_CERT_FILE", file.path, 1)
                setenv("HTTPS_PROXY", "http://ada:pass%20word@127.0.0.1:\(proxyPort)", 1)
                setenv("NO_PROXY", "localhost,.internal.example", 1)
                let tls = try ReplyServer.tls()
                try await ReplyServer.run(tls: tls) { _ in
                    .response(200, "{}")
                } _: { port, server in
                    let transport = HTTPTransport()
                    let proxied = try await transport.send(ConfiguredHTTPTests.get(port))
                    #expect(proxied.status == 200)
                    #expect(proxy.tunnels == ["127.0.0.1:\(port)"])
                    let direct = try await transport.send(
                        ConfiguredHTTPTests.get(port, "localhost")
                    )
                    #expect(direct.status == 200)
                    #expect(proxy.tunnels.count == 1)
                    #expect(server.requests.count == 2)
                }
            }
        }
    }

    @Test("A variable that cannot be used is named, and its value with a password is not shown")
    func badVariables() async {
        await #expect(processExitsWith: .success) {
            let password = SecrecyTests.Secret.proxyPassword
            setenv("HTTPS_PROXY", "http://ada:\(password)@127.0.0.1:91000", 1)
            let error = await #expect(throws: TransportError.self) {
                _ = try await HTTPTransport().send(
                    TransportRequest(method: "GET", url: "http://127.0.0.1:1/")
                )
            }
            #expect(error?.code == .badAddress)
            #expect(error?.message.contains("HTTPS_PROXY") == true)
            #expect(error?.message.contains("91000") == true)
            SecrecyTests.expectSilence(of: error.map { SecrecyTests.texts(of: $0) } ?? "")
            let incomplete = #expect(throws: ConnectionVariables.Incomplete.self) {
                try ConnectionVariables(["CLOUDKIT_API_TOKEN": "a"]).client(container: "c")
            }
            #expect(incomplete?.description.contains("HTTPS_PROXY") == true)
            SecrecyTests.expectSilence(of: incomplete.map { SecrecyTests.texts(of: $0) } ?? "")
        }
        await #expect(processExitsWith: .success) {
            setenv("SSL_CERT_FILE", "/nowhere/ca.pem", 1)
            let error = await #expect(throws: TransportError.self) {
                _ = try await HTTPTransport().send(
                    TransportRequest(method: "GET", url: "http://127.0.0.1:1/")
                )
            }
            #expect(error?.message.contains("SSL_CERT_FILE is /nowhere/ca.pem") == true)
        }
    }

    @Test("Servers see the package's name and version, or the program's")
    func userAgent() async throws {
        try await ReplyServer.run { _ in
            .response(200, "{}")
        } _: { port, server in
            let request = TransportRequest(method: "GET", url: "http://127.0.0.1:\(port)/")
            var transport = HTTPTransport()
            _ = try await transport.send(request)
            transport.userAgent = "shop/2.0 " + HTTPTransport.userAgent
            _ = try await transport.send(request)
            let seen = server.requests.map { $0.head.headers["User-Agent"] }
            #expect(seen[0].first?.hasPrefix("swift-cloudkit/") == true)
            #expect(seen[1] == ["shop/2.0 " + HTTPTransport.userAgent])
        }
    }

    @Test("The number of connections is the transport's, and for the process more than a few")
    func connections() {
        let configuration = HTTPClients.configuration()
        let limit = configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
        #expect(limit == HTTPClients.connectionsPerServer)
        #expect(limit >= 32)
    }
}
