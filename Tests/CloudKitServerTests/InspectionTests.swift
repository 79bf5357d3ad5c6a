import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("What operators look at in a container")
struct InspectionTests {
    private static let key = "a key that only tests know"
    private static let container = "containers/\(TestServer.container)"

    private static func run(
        _ change: (inout CloudServer.Configuration) -> Void = { _ in },
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = key
        change(&configuration)
        try await TestServer.run(configuration, test)
    }

    /// Requests something below the container's path.
    private static func ask(
        _ server: TestServer,
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        headers: [(String, String)] = []
    ) async throws -> TestServer.Response {
        try await server.send(
            "\(server.url)/_ck/\(container)/\(path)",
            method: method,
            headers: [("Authorization", "Bearer \(key)")] + headers,
            try body.map { try JSONEncoder().encode($0) } ?? Data()
        )
    }

    /// Reads a zone's feed as a device of a name.
    private static func fetch(
        _ server: TestServer,
        as device: String?,
        after token: JSON = .null
    ) async throws -> JSON {
        let name = device.map { "&clientId=" + FixtureCloud.escape($0) } ?? ""
        let zone: JSON = ["zoneID": ["zoneName": "Notes"], "syncToken": token]
        let response = try await server.send(
            server.endpoint("changes/zone") + name,
            try JSONEncoder().encode(["zones": [zone]] as JSON)
        )
        return response.body.zones[0].syncToken
    }

    private static func devices(_ server: TestServer) async throws -> [JSON] {
        try await ask(server, "GET", "devices").body.devices.elements
    }

    private static func device(_ name: JSON, _ server: TestServer) async throws -> JSON {
        try #require(try await devices(server).first { $0.clientID == name })
    }

    @Test("Without the key nobody looks, revokes, or sends anything")
    func key() async throws {
        try await Self.run { server in
            for (method, path) in [
                ("GET", "devices"), ("GET", "pushes"), ("POST", "test-pushes"),
                ("GET", "credentials"), ("DELETE", "credentials/0"), ("POST", "server-keys"),
                ("DELETE", "users/_a/sessions"), ("GET", "snapshots/a/differences"),
            ] {
                let url = "\(server.url)/_ck/\(Self.container)/\(path)"
                let response = try await server.send(url, method: method)
                #expect(response.status == 403, "\(method) \(path)")
            }
        }
    }

    @Test("Devices are listed with how far each is behind its zone, and without their tokens")
    func devices() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let first = try await Self.fetch(server, as: "phone")
            _ = try await server.save(["a", "b", "c"].map { FixtureCloud.note("create", $0) })
            let second = try await Self.fetch(server, as: "tablet")
            let phone = try await Self.device("phone", server)
            #expect(phone.environment == "development")
            #expect(phone.zones[0].zoneName == "Notes")
            #expect(phone.zones[0].database == "private")
            #expect(phone.zones[0].behind == 3)
            #expect(try await Self.device("tablet", server).zones[0].behind == 0)
            // The one that saved gave no name, and reads nothing.
            let nameless = try await Self.device(.null, server)
            #expect(nameless.zones.elements == [])
            #expect(nameless.userRecordName == phone.userRecordName)
            let shown = try await Self.ask(server, "GET", "devices").data
            for token in [first, second] {
                let text = try #require(token.text)
                #expect(!String(decoding: shown, as: UTF8.self).contains(text))
            }
            _ = try await Self.fetch(server, as: "phone", after: first)
            #expect(try await Self.device("phone", server).zones[0].behind == 0)
        }
    }

    @Test("A device whose token has expired begins again, and one of a deleted zone reads none")
    func expiredDevices() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            _ = try await server.save(["a", "b"].map { FixtureCloud.note("create", $0) })
            _ = try await Self.fetch(server, as: "phone")
            #expect(try await Self.device("phone", server).zones[0].isExpired == false)
            #expect(try await Self.ask(server, "POST", "expire-change-tokens").status == 200)
            let phone = try await Self.device("phone", server)
            #expect(phone.zones[0].isExpired == true)
            #expect(phone.zones[0].behind == 2)
            #expect(try await Self.ask(server, "POST", "reset").status == 200)
            #expect(try await Self.device("phone", server).zones.elements == [])
        }
    }

    @Test("A thousand devices are remembered, and a name that is too long is none")
    func manyDevices() async throws {
        try await Self.run { server in
            let service = try #require(server.service)
            let query = try #require(URLComponents(string: server.endpoint("zones/list")))
            for name in (0..<1005).map({ "device\($0)" }) + [String(repeating: "x", count: 256)] {
                let response = await service.respond(
                    to: ServiceRequest(
                        method: "GET",
                        path: query.percentEncodedPath,
                        query: (query.percentEncodedQuery ?? "") + "&clientId=" + name,
                        baseURL: server.url
                    )
                )
                #expect(response.status == 200)
            }
            let names = try await Self.devices(server).map(\.clientID)
            #expect(names.count == 1000)
            #expect(names.contains("device1004") && names.contains(.null))
        }
    }

    @Test("Credentials are listed without secrets, and what is revoked is refused")
    func credentials() async throws {
        try await Self.run { server in
            let list = try await Self.ask(server, "GET", "credentials")
            #expect(list.body.credentials.elements.map(\.kind) == ["api", "web-auth"])
            let shown = String(decoding: list.data, as: UTF8.self)
            #expect(!shown.contains(server.apiToken) && !shown.contains(server.webToken))
            #expect(try await Self.ask(server, "DELETE", "credentials/00ff").status == 404)
            #expect(try await server.call("zones/list", [:]).status == 200)
            // With an API token go the sessions that were begun with it.
            let id = try #require(list.body.credentials[0].id.text)
            let revoked = try await Self.ask(server, "DELETE", "credentials/\(id)")
            #expect(revoked.body.credentials.elements.count == 2)
            #expect(try await server.call("zones/list", [:]).status == 401)
            #expect(try await Self.ask(server, "GET", "credentials").body.credentials == [])
        }
    }

    @Test("A user is signed out of every session, and the API token stays")
    func signOut() async throws {
        try await Self.run { server in
            let users = try await Self.ask(server, "GET", "users").body.users
            let name = try #require(users[0].userRecordName.text)
            let ended = try await Self.ask(server, "DELETE", "users/\(name)/sessions")
            #expect(ended.body.credentials.elements.map(\.kind) == ["web-auth"])
            #expect(try await server.call("zones/list", [:]).status == 421)
            let left = try await Self.ask(server, "GET", "credentials").body.credentials
            #expect(left.elements.map(\.kind) == ["api"])
            #expect(try await Self.ask(server, "DELETE", "users/_nobody/sessions").status == 404)
        }
    }

    @Test("A server-to-server key is registered by its public half, and nothing else is")
    func serverKeys() async throws {
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVWF+x2u0YufGdaEhSUqdIGlZuEim
            VkoTKgJSDSwOlhkW3wSFD7eCQRYf8Dg/NOhAI2UivwewyFYxKnNu/youPA==
            -----END PUBLIC KEY-----
            """
        try await Self.run { server in
            func register(_ text: String) async throws -> TestServer.Response {
                try await Self.ask(
                    server,
                    "POST",
                    "server-keys",
                    ["environment": "production", "publicKey": .string(text)]
                )
            }
            #expect(try await register(pem).body.keyID.text?.count == 64)
            let bad = try await register("no key")
            #expect((bad.status, bad.body.serverErrorCode) == (400, "BAD_REQUEST"))
            let keys = try await Self.ask(server, "GET", "credentials").body.credentials.elements
                .filter { $0.kind == "server-key" }
            #expect(keys.map(\.environment) == ["production"])
        }
    }

    // MARK: Notifications

    private static func subscribe(_ server: TestServer) async throws {
        try await server.addZone("Notes")
        let subscription: JSON = [
            "subscriptionID": "news", "subscriptionType": "zone",
            "zoneID": ["zoneName": "Notes"], "notificationInfo": ["alertBody": "There is news"],
        ]
        let response = try await server.call(
            "subscriptions/modify",
            ["operations": [["operationType": "create", "subscription": subscription]]]
        )
        #expect(response.body.subscriptions[0].subscriptionID == "news")
    }

    private static func listen(_ server: TestServer) async throws -> String {
        let url = server.endpoint("tokens/create")
            .replacing("/database/1/", with: "/device/1/").replacing("/private/", with: "/")
        let made = try await server.send(url, Data(#"{"apnsEnvironment":"development"}"#.utf8))
        return try #require(made.body.webcourierURL.text)
    }

    @Test("The journal of notifications says who was notified of what, and on how many devices")
    func pushes() async throws {
        try await Self.run { server in
            try await Self.subscribe(server)
            #expect(try await Self.ask(server, "GET", "pushes").body.pushes == [])
            _ = try await server.save([FixtureCloud.note("create", "a")])
            let url = try await Self.listen(server)
            _ = try await server.save([FixtureCloud.note("create", "b")])
            let told = try await server.send(url, method: "GET")
            let pushes = try await Self.ask(server, "GET", "pushes").body.pushes.elements
            #expect(pushes.map(\.number) == [1, 2])
            #expect(pushes.map(\.devices) == [0, 1])
            #expect(pushes.map(\.subscriptionID) == ["news", "news"])
            let payload = try #require(pushes.last?.payload.text)
            #expect(try JSON(Data(payload.utf8)) == told.body)
            #expect(payload.contains("There is news"))
        }
    }

    @Test("A test notification reaches the user's devices without a change")
    func testPush() async throws {
        try await Self.run { server in
            try await Self.subscribe(server)
            let url = try await Self.listen(server)
            let users = try await Self.ask(server, "GET", "users").body.users
            func send(
                _ subscription: JSON,
                _ headers: [(String, String)] = []
            ) async throws -> TestServer.Response {
                try await Self.ask(
                    server,
                    "POST",
                    "test-pushes",
                    [
                        "environment": "development", "database": "private",
                        "userRecordName": users[0].userRecordName, "subscriptionID": subscription,
                    ],
                    headers: headers
                )
            }
            #expect(try await send("news").body.devices == 1)
            let told = try await server.send(url, method: "GET").body
            #expect(told.aps.alert.body == "There is news")
            #expect(told.ck.fet.sid == "news")
            #expect(try await send("nothing").status == 404)
            let passedOn = [("X-Forwarded-For", "192.0.2.1")]
            #expect(try await send("news", passedOn).status == 403)
        }
    }

    @Test("A server that others can reach shows its operator no payload")
    func hiddenPushes() async throws {
        try await Self.run({ $0.allowedHosts = ["cloud.example.com"] }) { server in
            try await Self.subscribe(server)
            _ = try await server.save([FixtureCloud.note("create", "a")])
            let pushes = try await Self.ask(server, "GET", "pushes").body.pushes
            #expect(pushes[0].subscriptionID == "news")
            #expect(pushes[0].payload == .null)
        }
    }

    // MARK: Snapshots

    /// Returns the differences, as “kind zone record”.
    private static func differences(
        _ server: TestServer,
        from earlier: String,
        to later: String? = nil
    ) async throws -> [String] {
        let query = later.map { "?to=\($0)" } ?? ""
        let response = try await ask(server, "GET", "snapshots/\(earlier)/differences" + query)
        #expect(response.status == 200)
        return response.body.differences.elements.map {
            [$0.kind, $0.zoneName, $0.recordName].compactMap(\.text).joined(separator: " ")
        }
    }

    @Test("A snapshot is compared with what is there now, and with another")
    func differences() async throws {
        try await Self.run { server in
            func save(_ kind: String, _ name: String, _ text: JSON = "same") async throws {
                let fields: JSON = ["text": ["value": text]]
                let response = try await server.save([FixtureCloud.note(kind, name, fields)])
                #expect(response.body.records[0].serverErrorCode == .null)
            }
            func take(_ name: String) async throws {
                #expect(try await Self.ask(server, "PUT", "snapshots/\(name)").status == 200)
            }
            try await server.addZone("Notes")
            for name in ["a", "b", "c"] { try await save("create", name) }
            try await take("one")
            #expect(try await Self.differences(server, from: "one") == [])
            try await save("forceUpdate", "a", "other")
            try await save("forceUpdate", "b")
            try await save("forceDelete", "c")
            try await save("create", "d")
            try await server.addZone("More")
            let changes = ["added More", "changed Notes a", "deleted Notes c", "added Notes d"]
            #expect(try await Self.differences(server, from: "one") == changes)
            try await take("two")
            try await save("forceUpdate", "a", "third")
            #expect(try await Self.differences(server, from: "one", to: "two") == changes)
            #expect(try await Self.differences(server, from: "two") == ["changed Notes a"])
            // After a reset the zones of the same names are others, and are compared by names.
            #expect(try await Self.ask(server, "POST", "reset").status == 200)
            try await server.addZone("Notes")
            try await save("create", "a")
            let after = ["deleted Notes b", "deleted Notes c"]
            #expect(try await Self.differences(server, from: "one") == after)
            #expect(try await Self.differences(server, from: "one", to: "two") == changes)
            #expect(try await Self.ask(server, "POST", "snapshots/one/restore").status == 200)
            #expect(try await Self.differences(server, from: "one") == [])
            for path in ["none/differences", "one/differences?to=none"] {
                #expect(try await Self.ask(server, "GET", "snapshots/\(path)").status == 404)
            }
        }
    }

    @Test("The default zone of a user who is new is a difference once there is a record in it")
    func newUsers() async throws {
        try await Self.run { server in
            #expect(try await Self.ask(server, "PUT", "snapshots/one").status == 200)
            let service = try #require(server.service)
            let bob = try await service.addUser(container: TestServer.container, name: "Bob")
            let token = try await service.addWebAuthToken(
                user: bob,
                apiToken: server.apiToken,
                environment: .development
            )
            let bobs = TestServer(url: server.url, apiToken: server.apiToken, webToken: token)
            try await bobs.addZone("Notes")
            #expect(try await bobs.call("zones/list", [:]).body.zones.elements.count == 2)
            #expect(try await Self.differences(server, from: "one") == ["added Notes"])
            let saved = try await bobs.save([FixtureCloud.note("create", "a")], in: "_defaultZone")
            #expect(saved.body.records[0].serverErrorCode == .null)
            #expect(try await Self.ask(server, "PUT", "snapshots/two").status == 200)
            let news = ["added Notes", "added _defaultZone"]
            #expect(Set(try await Self.differences(server, from: "one")) == Set(news))
            #expect(Set(try await Self.differences(server, from: "one", to: "two")) == Set(news))
            let gone = ["deleted Notes", "deleted _defaultZone"]
            #expect(Set(try await Self.differences(server, from: "two", to: "one")) == Set(gone))
        }
    }
}
