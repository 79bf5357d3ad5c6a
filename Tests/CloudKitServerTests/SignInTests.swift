import AsyncHTTPClient
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Crypto
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import ServerFixtures
import Testing

@Suite("Signing in with a password")
struct SignInTests {
    private static let password = "correct horse & battery+staple"

    /// Runs a test against a public server with Ada, who has a password.
    private static func run(
        _ change: (inout CloudServer.Configuration) -> Void = { _ in },
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration(
            publicURL: "https://cloud.example.com",
            allowedOrigins: ["https://app.example.com"]
        )
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        change(&configuration)
        try await TestServer.run(configuration) { server in
            let user = try await server.service?.users(container: TestServer.container).first
            try await server.service?.setPassword(password, of: #require(user))
            try await test(server)
        }
    }

    private static func page(_ server: TestServer, _ more: [String: String] = [:]) -> String {
        more.sorted { $0.key < $1.key }.reduce(
            "\(server.url)/sign-in?ckAPIToken=\(server.apiToken)"
        ) { $0 + "&\($1.key)=\(FixtureCloud.escape($1.value))" }
    }

    /// Submits the form, as a browser does behind the proxy.
    private static func signIn(
        _ server: TestServer,
        _ more: [String: String] = [:],
        name: String = "Ada",
        password: String = SignInTests.password,
        from address: String = "192.0.2.1"
    ) async throws -> TestServer.Response {
        let form = "name=\(FixtureCloud.escape(name))&password=\(FixtureCloud.escape(password))"
        var request = HTTPClientRequest(url: page(server, more))
        request.method = .POST
        for (name, value) in [
            ("Host", "cloud.example.com"), ("Origin", "https://cloud.example.com"),
            ("X-Forwarded-For", "203.0.113.9, \(address)"), ("Connection", "close"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ] {
            request.headers.add(name: name, value: value)
        }
        request.body = .bytes(Data(form.replacing("%20", with: "+").utf8))
        // Redirects are not followed: they lead to a program that does not exist.
        let response = try await plain.execute(request, timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 20)
        var headers: [String: String] = [:]
        for header in response.headers { headers[header.name.lowercased()] = header.value }
        return TestServer.Response(
            status: Int(response.status.code),
            headers: headers,
            data: Data(body.readableBytesView)
        )
    }

    private static let plain: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private static func text(_ response: TestServer.Response) -> String {
        String(decoding: response.data, as: UTF8.self)
    }

    private static func token(_ response: TestServer.Response) -> String? {
        let text = text(response)
        guard let start = text.firstRange(of: "158__54__")?.lowerBound else { return nil }
        return String(text[start...].prefix { $0 != "<" })
    }

    @Test("The password gives a token that works; another one gives none, and the reason")
    func password() async throws {
        try await Self.run { server in
            for (name, password) in [
                ("Ada", "wrong"), ("Bob", Self.password), ("Ada", ""), ("", Self.password),
                ("Ada", Self.password + " "), ("Ada", String(repeating: "x", count: 5000)),
            ] {
                let response = try await Self.signIn(server, name: name, password: password)
                #expect(response.status == (name.isEmpty || password.isEmpty ? 400 : 403))
                #expect(Self.token(response) == nil)
                #expect(Self.text(response).contains("role=\"alert\""))
            }
            let response = try await Self.signIn(server, name: " ada ")
            #expect(response.status == 200)
            let token = try #require(Self.token(response))
            let zones = try await server.send(
                server.endpoint("zones/list", webToken: token),
                Data("{}".utf8)
            )
            #expect(zones.status == 200)
        }
    }

    @Test("The page has a title and a label for each field, and runs nothing that was not its own")
    func form() async throws {
        try await Self.run { server in
            let evil = "\"><script>alert(1)</script>"
            let response = try await server.send(
                Self.page(server, ["origin": "https://app.example.com"]),
                method: "GET"
            )
            let page = Self.text(response)
            #expect(response.status == 200)
            #expect(page.contains("<title>Sign in"))
            for field in ["name", "password"] {
                #expect(page.contains("<label for=\"\(field)\">"))
                #expect(page.contains("id=\"\(field)\" name=\"\(field)\""))
            }
            let policy = try #require(response.headers["content-security-policy"])
            #expect(!policy.contains("unsafe"))
            #expect(policy.contains("frame-ancestors 'none'"))
            let typed = try await Self.signIn(server, name: evil)
            #expect(!Self.text(typed).contains("<script>"))
            let unknown = try await server.send(
                "\(server.url)/sign-in?ckAPIToken=\(FixtureCloud.escape(evil))",
                method: "GET"
            )
            #expect(unknown.status == 404)
            #expect(!Self.text(unknown).contains("<script>"))
        }
    }

    @Test("The page that opened the window receives the token, and the window closes")
    func message() async throws {
        try await Self.run { server in
            let origin = "https://app.example.com"
            let page = Self.text(try await Self.signIn(server, ["origin": origin]))
            #expect(page.contains("data-origin=\"\(origin)\""))
            let message = try #require(page.firstRange(of: "window.opener.postMessage"))
            let close = try #require(page.firstRange(of: "window.close()"))
            #expect(message.upperBound < close.lowerBound)
        }
    }

    @Test("A program is sent the token by a redirect, where the operator or RFC 8252 allows it")
    func redirect() async throws {
        try await Self.run {
            $0.signInCallbacks = ["myapp://signed-in"]
        } _: { server in
            for callback in [
                "http://127.0.0.1:4567/back?state=1", "http://localhost:4567/", "myapp://signed-in",
                "https://app.example.com/done",
            ] {
                let response = try await Self.signIn(server, ["redirect": callback])
                #expect(response.status == 303)
                let location = try #require(response.headers["location"])
                #expect(location.hasPrefix(callback + (callback.contains("?") ? "&" : "?")))
                let query = try #require(URLComponents(string: location)?.queryItems)
                let token = try #require(query.first { $0.name == "ckWebAuthToken" }?.value)
                let zones = try await server.send(
                    server.endpoint("zones/list", webToken: token),
                    Data("{}".utf8)
                )
                #expect(zones.status == 200)
            }
        }
    }

    @Test("Nobody is sent to a foreign address with a token")
    func foreignRedirect() async throws {
        try await Self.run { server in
            for callback in [
                "https://evil.com/", "http://127.0.0.1:80@evil.com/", "http://localhost.evil.com/",
                "myapp://signed-in", "javascript:alert(1)", "//evil.com", "data:text/html,x",
                "https://app.example.com.evil.com/", "https://app.example.com@evil.com/",
                "http://127.0.0.1/\r\nSet-Cookie: a=b", "http://evil.com#@127.0.0.1/",
            ] {
                let response = try await Self.signIn(server, ["redirect": callback])
                #expect(response.status == 400, "\(callback)")
                #expect(response.headers["location"] == nil, "\(callback)")
                #expect(Self.token(response) == nil, "\(callback)")
            }
        }
    }

    @Test("A client that must wait, or announces an endless form, is refused before it is read")
    func early() async throws {
        try await Self.run { server in
            for number in 0..<30 {
                let response = try await Self.signIn(
                    server,
                    name: "n\(number)",
                    from: "198.51.100.9"
                )
                #expect(response.status == 403)
            }
            for (address, length, status) in [
                ("198.51.100.9", 100, 429), ("198.51.100.10", 1 << 20, 400),
            ] {
                try await RawConnection.run(server) { connection in
                    try await connection.send(
                        "POST",
                        "/sign-in?ckAPIToken=\(server.apiToken)",
                        ["Host: cloud.example.com", "X-Forwarded-For: \(address)"],
                        body: "name=Ada",
                        length: length
                    )
                    let response = try await connection.response()
                    #expect(response?.status == status, "\(length)")
                    #expect(response?.body.contains("part only") == false, "\(length)")
                }
            }
        }
    }

    @Test("After ten tries for a name or thirty from an address, even the right password waits")
    func tries() async throws {
        try await Self.run { server in
            for number in 0..<10 {
                let response = try await Self.signIn(
                    server,
                    password: "guess \(number)",
                    from: "192.0.2.\(number)"
                )
                #expect(response.status == 403)
            }
            let account = try await Self.signIn(server, from: "192.0.2.77")
            #expect(account.status == 429)
            // Attempts count alike, whether or not a user of that name exists.
            for (name, other) in [("aDA", " Ada "), ("nobody  at all", "Nobody at\tall")] {
                for number in 0..<(name == "aDA" ? 0 : 10) {
                    let address = "203.0.113.\(number)"
                    let response = try await Self.signIn(server, name: name, from: address)
                    #expect(response.status == 403)
                }
                for name in [name, other] {
                    let response = try await Self.signIn(server, name: name, from: "192.0.2.78")
                    #expect(response.status == 429, "\(name)")
                }
            }
            #expect(account.headers["retry-after"].flatMap { Int($0) }.map { $0 > 0 } == true)
            #expect(Self.token(account) == nil)
            // A client's own statements about its address do not count: the last entry is the proxy's.
            for number in 0..<30 {
                let response = try await Self.signIn(
                    server,
                    name: "n\(number)",
                    from: "198.51.100.1"
                )
                #expect(response.status == 403)
            }
            let address = try await Self.signIn(server, name: "other", from: "198.51.100.1")
            #expect(address.status == 429)
            let elsewhere = try await Self.signIn(server, name: "other", from: "198.51.100.2")
            #expect(elsewhere.status == 403)
            // All spellings count as the same address.
            for address in [
                "198.51.100.1:5678", "::ffff:198.51.100.1", "[::ffff:198.51.100.1]:5678",
                "::FFFF:c633:6401", "\"[::ffff:c633:6401]\"",
            ] {
                let response = try await Self.signIn(server, name: "other", from: address)
                #expect(response.status == 429, "\(address)")
            }
            let spelt = ["2001:db8::1", "[2001:DB8:0:0:9::2]:443", "2001:db8:0:0:ffff::%eth0"]
            for number in 0..<30 {
                let address = spelt[number % 3]
                let response = try await Self.signIn(server, name: "m\(number)", from: address)
                #expect(response.status == 403)
            }
            let network = try await Self.signIn(server, name: "other", from: "2001:db8::abc")
            #expect(network.status == 429)
            let next = try await Self.signIn(server, name: "other", from: "2001:db8:0:1::1")
            #expect(next.status == 403)
            // An invalid address does not get attempts of its own.
            for number in 0..<30 {
                let response = try await Self.signIn(
                    server,
                    name: "u\(number)",
                    from: "no \(number)"
                )
                #expect(response.status == 403)
            }
            let nobody = try await Self.signIn(server, name: "other", from: "unknown")
            #expect(nobody.status == 429)
        }
    }

    @Test("The log has a line for each sign-in that was refused, with the name, and no password")
    func log() async throws {
        let lines = LogLines()
        var configuration = CloudServer.Configuration(publicURL: "https://cloud.example.com")
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        let server = try CloudServer(
            configuration: configuration,
            logger: Logger(label: "test") { _ in lines.handler }
        )
        try await TestServer.run(server) { server in
            func refusals() -> [[String: String]] {
                lines.all.filter { $0["message"]?.contains("ign-in") == true }
            }
            let user = try #require(
                try await server.service?.users(container: TestServer.container).first
            )
            try await server.service?.setPassword(Self.password, of: user)
            #expect(try await Self.signIn(server).status == 200)
            #expect(refusals() == [])
            let secret = "hunter2 is no secret"
            #expect(try await Self.signIn(server, password: secret).status == 403)
            #expect(
                refusals() == [
                    [
                        "level": "notice", "message": "A sign-in was refused", "user": "\"Ada\"",
                        "address": "192.0.2.1", "peer": "127.0.0.1",
                    ]
                ]
            )
            // A name can neither look like other metadata nor change a terminal, nor be without end.
            let evil =
                "x\" address=9.9.9.9\r\n\u{1B}[2J\u{202E}" + String(repeating: "y", count: 4000)
            #expect(try await Self.signIn(server, name: evil, password: secret).status == 403)
            let shown = try #require(refusals().last?["user"])
            #expect(shown.hasPrefix("\"x\\\" address=9.9.9.9"), "\(shown)")
            #expect(shown.utf8.count < 200)
            #expect(shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(!shown.contains("\u{202E}"))
            // Users without a password are chosen on this machine alone.
            let chosen = try await server.send(Self.page(server), Data("user=somebody".utf8))
            #expect(chosen.status == 400)
            #expect(refusals().last?["user"] == "\"somebody\"")
            #expect(refusals().count == 3)
            // Those that have to wait are one line a minute, not one for each try.
            for _ in 0..<20 { _ = try await Self.signIn(server, password: secret) }
            let all = refusals()
            #expect(all.count == 3 + 9 + 1)
            #expect(all.last?["message"]?.contains("have to wait") == true)
            #expect(all.last?["count"] == "1")
            #expect(all.allSatisfy { $0["level"] == "notice" })
            let text = lines.all.map { "\($0)" }.joined()
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("correct horse"))
        }
    }

    @Test("A client that has to wait learns for how long, by a minute or by several")
    func wait() async throws {
        let clock = VirtualClock()
        var configuration = CloudServer.Configuration(publicURL: "https://cloud.example.com")
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        let service = CloudService(
            storage: try SQLiteStorage(path: nil),
            assets: try FileAssetStorage.temporary(),
            configuration: configuration.service,
            clock: clock,
            randomness: SystemRandomness()
        )
        let server = CloudServer(
            serving: service,
            configuration: configuration,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await TestServer.run(server) { server async throws in
            func response() async throws -> String {
                Self.text(try await Self.signIn(server, name: "nobody"))
            }
            for _ in 0..<10 { #expect(try await response().contains("is wrong")) }
            #expect(try await response().contains("Wait 15 minutes, and try again"))
            clock.advance(by: .seconds(840))
            #expect(try await response().contains("Wait a minute, and try again"))
            clock.advance(by: .seconds(60))
            #expect(try await response().contains("is wrong"))
        }
    }

    @Test(
        "On this machine too, a user with a password signs in with it alone, and keys are no people"
    )
    func local() async throws {
        var configuration = CloudServer.Configuration()
        configuration.service.passwordCost = .init(rounds: 16, parallelism: 1)
        try await TestServer.run(configuration) { server in
            let service = try #require(server.service)
            let bob = try await service.addUser(container: TestServer.container, name: "Bob")
            try await service.setPassword(Self.password, of: bob)
            let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
            _ = try await service.addServerKey(
                publicKey: key,
                container: TestServer.container,
                environment: .development
            )
            let page = Self.text(try await server.send(Self.page(server), method: "GET"))
            #expect(page.contains(">Ada</button>"))
            #expect(page.components(separatedBy: "name=\"user\"").count == 2)
            for user in try await service.users(container: TestServer.container) {
                let form = Data("user=\(user.userRecordName)".utf8)
                let response = try await server.send(Self.page(server), form)
                #expect((Self.token(response) != nil) == (user.givenName == "Ada"))
            }
        }
    }

    @Test("A form that is cut short or too long is the client's mistake")
    func cut() async throws {
        try await Self.run { server in
            let target = String(Self.page(server).dropFirst(server.url.count))
            let cut = try await RawConnection.run(server) { connection in
                try await connection.send("POST", target, body: "name=Ada", length: 100)
                connection.finish()
                return try await connection.response()
            }
            #expect(cut.map { $0.status == 400 } ?? true)
            let long = try await server.send(
                Self.page(server),
                Data(repeating: UInt8(ascii: "a"), count: 100_000)
            )
            #expect(long.status == 400)
            let method = try await server.send(Self.page(server), method: "DELETE")
            #expect(method.status == 405)
        }
    }

    @Test(
        "A token that is unknown or has expired is refused so that clients offer to sign in again"
    )
    func expired() async throws {
        try await Self.run { server in
            for token in ["158__54__AAAA", "x", server.webToken + "A"] {
                let response = try await server.send(
                    server.endpoint("zones/list", webToken: token),
                    headers: [("Origin", "https://app.example.com")],
                    Data("{}".utf8)
                )
                #expect(
                    (response.status, response.body.serverErrorCode) == (
                        421, "AUTHENTICATION_REQUIRED"
                    )
                )
                let page = try #require(response.body.redirectURL.text)
                #expect(page.hasPrefix("https://cloud.example.com/sign-in?ckAPIToken="))
                #expect(page.hasSuffix("&origin=https%3A%2F%2Fapp.example.com"))
            }
        }
    }
}
