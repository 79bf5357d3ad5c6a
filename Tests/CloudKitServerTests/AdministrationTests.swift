import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import ServerFixtures
import Synchronization
import Testing

@Suite("The routes of operators and tests")
struct AdministrationTests {
    private static let key = "a key that only tests know"

    private static func run(
        _ change: (inout CloudServer.Configuration) -> Void = { _ in },
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = key
        change(&configuration)
        try await TestServer.run(configuration, test)
    }

    private static func ask(
        _ server: TestServer,
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        key: String = AdministrationTests.key,
        once: String? = nil
    ) async throws -> TestServer.Response {
        // The same body has the same bytes, by which the server knows a request again.
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try await server.send(
            server.url + path,
            method: method,
            headers: [("Authorization", "Bearer \(key)")]
                + (once.map { [("Idempotency-Key", $0)] } ?? []),
            try body.map { try encoder.encode($0) } ?? Data()
        )
    }

    private static let container = "/_ck/containers/\(TestServer.container)"

    @Test("Without the key there is no response and nothing happens")
    func key() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            for (method, path) in [
                ("GET", "/_ck/journal"), ("GET", "/_ck/faults"), ("PUT", "/_ck/faults"),
                ("POST", Self.container + "/reset"), ("GET", Self.container + "/users"),
                ("PUT", Self.container + "/snapshots/s"), ("POST", "/_ck/clock"),
                ("POST", Self.container + "/api-tokens"), ("GET", "/_ck/nowhere"),
            ] {
                for key in ["", "wrong", Self.key + "x", String(Self.key.dropLast())] {
                    let response = try await Self.ask(server, method, path, key: key)
                    #expect(response.status == 403, "\(method) \(path)")
                }
            }
            let zones = try await server.call("zones/list", [:]).body.zones.elements
            #expect(zones.count == 2)
            #expect(try await Self.ask(server, "GET", "/_ck/nowhere").status == 404)
        }
    }

    @Test("A wrong key is called wrong, and a missing one missing")
    func wrongKey() async throws {
        try await Self.run { server in
            let missing = try await server.send(server.url + "/_ck/journal", method: "GET")
            #expect(missing.body.reason.text?.hasPrefix("Send the key") == true)
            let wrong = try await Self.ask(server, "GET", "/_ck/journal", key: "of another start")
            #expect(wrong.body.reason.text?.hasPrefix("The key is not this server's") == true)
            #expect(wrong.body.reason.text?.contains("operator.env") == true)
        }
    }

    @Test("A container that does not exist is not read, even where a request may create it")
    func unknownContainer() async throws {
        try await Self.run({ $0.service.opensContainers = true }) { server in
            for path in ["snapshots", "users", "devices", "pushes", "credentials"] {
                let response = try await Self.ask(server, "GET", "/_ck/containers/nope/\(path)")
                #expect(response.status == 404, "\(path)")
                #expect(
                    response.body.reason.text?.contains(TestServer.container) == true,
                    "\(path)"
                )
            }
        }
    }

    @Test("Users are listed in the order in which they were added")
    func userOrder() async throws {
        try await Self.run { server in
            let names = (0..<8).map { "Guest\($0)" }
            for name in names {
                let body: JSON = ["name": .string(name)]
                _ = try await Self.ask(server, "POST", Self.container + "/users", body)
            }
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            #expect(users.elements.map(\.givenName.text) == ["Ada"] + names)
        }
    }

    @Test("A user's name is not blank", arguments: ["", "  ", "\u{A0}\n"])
    func blankUser(name: String) async throws {
        try await Self.run { server in
            let body: JSON = ["name": .string(name)]
            let response = try await Self.ask(server, "POST", Self.container + "/users", body)
            #expect(response.status == 400)
            #expect(response.body.reason == "The user's name is blank; give one")
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            #expect(users.elements.count == 1)
        }
    }

    @Test("A page of another origin is refused, whatever key it has")
    func origin() async throws {
        try await Self.run { server in
            let response = try await server.send(
                server.url + "/_ck/journal",
                method: "GET",
                headers: [
                    ("Authorization", "Bearer \(Self.key)"), ("Origin", "http://evil.example"),
                ]
            )
            #expect(response.status == 403)
            #expect(response.body.reason.text?.contains("evil.example") == true)
        }
    }

    @Test("A server that others can reach has no such routes without a key of its operator's")
    func offLoopback() throws {
        let open = try CloudServer(configuration: .init(host: "0.0.0.0"))
        #expect(open.administrationKey == nil)
        let own = try CloudServer(configuration: .init(host: "127.0.0.1"))
        let other = try CloudServer(configuration: .init(host: "127.0.0.1"))
        #expect(own.administrationKey?.count == 32)
        #expect(own.administrationKey != other.administrationKey)
    }

    @Test("What is for tests only does not start on an address that others can reach")
    func developmentOnly() {
        var names = CloudServer.Configuration(host: "0.0.0.0")
        names.service.acceptsUserNames = true
        var containers = CloudServer.Configuration(host: "192.0.2.1")
        containers.service.opensContainers = true
        var clock = CloudServer.Configuration(host: "::")
        clock.hasVirtualClock = true
        for configuration in [names, containers, clock] {
            #expect(throws: ServerConfigurationError.self) {
                _ = try CloudServer(configuration: configuration)
            }
        }
    }

    @Test("A reset and a restore change at once what counts against the quota, and what is found")
    func quotaOfSnapshots() async throws {
        try await Self.run({ $0.service.userQuotaBytes = 10_000 }) { server in
            func save(_ name: String) async throws -> JSON {
                let text: JSON = ["text": ["value": .string(String(repeating: "x", count: 6000))]]
                return try await server.save([FixtureCloud.note("create", name, text)])
                    .body.records[0].serverErrorCode
            }
            try await server.addZone("Notes")
            #expect(try await save("a") == .null)
            #expect(try await save("b") == "QUOTA_EXCEEDED")
            let snapshot = Self.container + "/snapshots/full"
            #expect(try await Self.ask(server, "PUT", snapshot).status == 200)
            #expect(try await Self.ask(server, "POST", Self.container + "/reset").status == 200)
            // The contents of the snapshot count toward no quota.
            try await server.addZone("Notes")
            #expect(try await server.names() == [])
            #expect(try await save("b") == .null)
            #expect(try await Self.ask(server, "POST", snapshot + "/restore").status == 200)
            #expect(try await server.names() == ["a"])
            #expect(try await save("b") == "QUOTA_EXCEEDED")
        }
    }

    @Test("A container is reset, kept and brought back over HTTP")
    func snapshots() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            _ = try await server.save([FixtureCloud.note("create", "a")])
            let taken = try await Self.ask(server, "PUT", Self.container + "/snapshots/one%20note")
            #expect(taken.body.name == "one note")
            #expect(try await Self.ask(server, "POST", Self.container + "/reset").status == 200)
            let zones = try await server.call("zones/list", [:]).body.zones.elements
            #expect(zones.count == 1)
            let list = try await Self.ask(server, "GET", Self.container + "/snapshots")
            #expect(list.body.snapshots.elements.map(\.name) == ["one note"])
            let restored = try await Self.ask(
                server,
                "POST",
                Self.container + "/snapshots/one%20note/restore"
            )
            #expect(restored.status == 200)
            #expect(try await server.names() == ["a"])
            let path = Self.container + "/snapshots/one%20note"
            #expect(try await Self.ask(server, "DELETE", path).status == 200)
            #expect(try await Self.ask(server, "DELETE", path).status == 404)
            let unknown = try await Self.ask(server, "POST", "/_ck/containers/nowhere/reset")
            #expect(unknown.status == 404)
        }
    }

    @Test("Faults are scripted over HTTP, and their counts read back")
    func faults() async throws {
        try await Self.run { server in
            let rule: JSON = ["fault": "error", "code": "ZONE_BUSY", "call": 2]
            let set = try await Self.ask(server, "PUT", "/_ck/faults", ["rules": [rule]])
            #expect(set.status == 200)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await server.call("zones/list", [:]).status) }
            #expect(statuses == [200, 503, 200])
            let state = try await Self.ask(server, "GET", "/_ck/faults")
            #expect(state.body.counts[0] == ["fitting": 3, "taken": 1])
            #expect(state.body.plan.rules[0].code == "ZONE_BUSY")
            let bad = try await Self.ask(server, "PUT", "/_ck/faults", ["rules": [["fault": "x"]]])
            #expect((bad.status, bad.body.serverErrorCode) == (400, "BAD_REQUEST"))
            #expect(bad.body.reason.text?.contains("rules[0].fault") == true)
            // A rule that is added or removed leaves the counts of the others.
            let more: JSON = ["fault": "delay", "milliseconds": 0]
            let added = try await Self.ask(server, "POST", "/_ck/faults", ["rules": [more]])
            #expect(added.body.counts.elements.map(\.fitting) == [3, 0])
            _ = try await server.call("zones/list", [:])
            let removed = try await Self.ask(server, "DELETE", "/_ck/faults/1")
            #expect(removed.body.counts.elements == [["fitting": 1, "taken": 1]])
            for number in ["0", "2", "-1", "x"] {
                let none = try await Self.ask(server, "DELETE", "/_ck/faults/\(number)")
                #expect(none.status == 404, "\(number)")
            }
            _ = try await Self.ask(server, "DELETE", "/_ck/faults")
            #expect(try await Self.ask(server, "GET", "/_ck/faults").body.plan == .null)
        }
    }

    @Test("Zones are deleted as a user's settings do it; another reason and nobody's are refused")
    func zoneLoss() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            func lose(_ reason: JSON, of user: JSON) async throws -> TestServer.Response {
                try await Self.ask(
                    server,
                    "POST",
                    Self.container + "/delete-zones",
                    ["userRecordName": user, "reason": reason, "zones": ["Notes"]]
                )
            }
            let ada = users[0].userRecordName
            #expect(try await lose("BOREDOM", of: ada).status == 400)
            #expect(try await lose("PURGED", of: "_nobody").status == 404)
            #expect(try await lose("PURGED", of: ada).status == 200)
            let saved = try await server.save([FixtureCloud.note("create", "a")])
            #expect((saved.status, saved.body.deletionReason) == (404, "PURGED"))
            #expect(try await lose("PURGED", of: ada).status == 404)
        }
    }

    @Test("Users and tokens made over HTTP are good at once")
    func users() async throws {
        try await Self.run { server in
            let token = try await Self.ask(
                server,
                "POST",
                Self.container + "/api-tokens",
                ["environment": "development"]
            )
            let user = try await Self.ask(
                server,
                "POST",
                Self.container + "/users",
                ["name": "Bob Noyce", "apiToken": token.body.apiToken]
            )
            let query =
                "ckAPIToken=\(token.body.apiToken.text ?? "")&ckWebAuthToken="
                + FixtureCloud.escape(user.body.webAuthToken.text ?? "")
            let path = "/database/1/\(TestServer.container)/development/private/users/caller"
            let caller = try await server.send("\(server.url)\(path)?\(query)", method: "GET")
            #expect(caller.body.userRecordName == user.body.userRecordName)
            let users = try await Self.ask(server, "GET", Self.container + "/users")
            #expect(Set(users.body.users.elements.map(\.givenName)) == ["Ada", "Bob"])
        }
    }

    @Test(
        "A mistyped container is refused by every route, and none is made unless it is said to be new"
    )
    func typing() async throws {
        try await Self.run { server in
            let typo = "/_ck/containers/typo"
            for (method, path, body): (String, String, JSON?) in [
                ("POST", typo + "/users", ["name": "Eve"]), ("GET", typo + "/users", nil),
                ("POST", typo + "/api-tokens", ["environment": "development"]),
                ("GET", typo + "/credentials", nil), ("GET", typo + "/snapshots", nil),
            ] {
                let response = try await Self.ask(server, method, path, body)
                #expect(response.status == 404, "\(method) \(path)")
                #expect(response.body.reason.text?.contains(TestServer.container) == true)
            }
            let containers = try await server.service?.containers()
            #expect(containers == [TestServer.container])
            let new = try await Self.ask(server, "POST", typo + "/users?new=true", ["name": "Eve"])
            #expect(new.status == 200)
            #expect(try await Self.ask(server, "GET", typo + "/users").status == 200)
        }
    }

    @Test("A user whose API token is unknown is not made, and neither is a new container")
    func unknownToken() async throws {
        try await Self.run { server in
            let before = try await Self.ask(server, "GET", Self.container + "/users").body
            for path in ["/_ck/containers/new/users?new=true", Self.container + "/users"] {
                let refused = try await Self.ask(
                    server,
                    "POST",
                    path,
                    ["name": "Bob", "apiToken": "unknown"]
                )
                #expect((refused.status, refused.body.serverErrorCode) == (404, "NOT_FOUND"))
            }
            #expect(try await server.service?.containers() == [TestServer.container])
            let after = try await Self.ask(server, "GET", Self.container + "/users").body
            #expect(after == before)
        }
    }

    /// Requests the faults with a key as a client behind a proxy; returns the status.
    private static func ask(
        _ server: TestServer,
        key: String,
        from address: String
    ) async throws -> Int {
        try await server.send(
            server.url + "/_ck/faults",
            method: "GET",
            headers: [("Authorization", "Bearer \(key)"), ("X-Forwarded-For", address)]
        ).status
    }

    @Test(
        "A client that sends many wrong keys has to wait, and is in the log; this machine's key is good"
    )
    func wrongKeys() async throws {
        let lines = LogLines()
        var logger = Logger(label: "test") { _ in lines.handler }
        logger.logLevel = .notice
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = Self.key
        configuration.trustedProxies = ["127.0.0.1"]
        try await TestServer.run(CloudServer(configuration: configuration, logger: logger)) {
            server in
            for _ in 0..<30 {
                let status = try await Self.ask(server, key: "wrong", from: "192.0.2.1")
                #expect(status == 403)
            }
            #expect(try await Self.ask(server, key: "wrong", from: "192.0.2.1") == 429)
            #expect(try await Self.ask(server, key: Self.key, from: "192.0.2.1") == 429)
            #expect(try await Self.ask(server, key: Self.key, from: "192.0.2.2") == 200)
        }
        let levels = lines.all.filter { $0["message"]?.contains("wrong key") == true }
            .compactMap { $0["level"] }
        #expect(levels == Array(repeating: "notice", count: 29) + ["warning"])
        try await Self.run { server in
            for _ in 0..<31 {
                _ = try await Self.ask(server, "GET", "/_ck/faults", key: "wrong")
            }
            let waits = try await Self.ask(server, "GET", "/_ck/faults", key: "wrong")
            #expect(waits.status == 429)
            #expect(waits.headers["retry-after"].flatMap { Int($0) }.map { $0 > 0 } == true)
            #expect(try await Self.ask(server, "GET", "/_ck/faults").status == 200)
        }
    }

    @Test("A request that is sent again with its key is carried out once")
    func repeated() async throws {
        try await Self.run { server in
            let users = Self.container + "/users"
            let rosa: JSON = ["name": "Rosa", "emailAddress": "rosa@example.com"]
            let first = try await Self.ask(server, "POST", users, rosa, once: "1")
            let again = try await Self.ask(server, "POST", users, rosa, once: "1")
            #expect(first.status == 200)
            #expect(again.status == 200)
            #expect(first.body == again.body)
            #expect(try await Self.ask(server, "POST", users, rosa, once: "2").status == 409)
            #expect(try await Self.ask(server, "POST", users, rosa).status == 409)
            let other = try await Self.ask(server, "POST", users, ["name": "Grace"], once: "1")
            #expect(other.status == 200)
            #expect(other.body != first.body)
        }
    }

    @Test("Requests with one key that arrive together are carried out once")
    func repeatedTogether() async throws {
        try await Self.run { server in
            let users = Self.container + "/users"
            let count = try await Self.ask(server, "GET", users).body.users.elements.count
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        let added: JSON = ["name": "Rosa"]
                        let response = try await Self.ask(server, "POST", users, added, once: "1")
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            let after = try await Self.ask(server, "GET", users).body.users.elements.count
            #expect(after == count + 1)
        }
    }

    @Test("A refusal is no response to a later request with its key")
    func repeatedRefusal() async throws {
        try await Self.run { server in
            let path = Self.container + "/snapshots/s"
            let refused = try await Self.ask(server, "DELETE", path, once: "1")
            #expect(refused.status == 404)
            #expect(try await Self.ask(server, "PUT", path).status == 200)
            #expect(try await Self.ask(server, "DELETE", path, once: "1").status == 200)
        }
    }

    @Test("A clock stays before the year 10000, however often it is moved")
    func endOfTime() async throws {
        try await Self.run({ $0.hasVirtualClock = true }) { server in
            let step: JSON = ["advanceSeconds": 31_000_000_000]
            var statuses: [Int] = []
            for _ in 0..<9 {
                statuses.append(try await Self.ask(server, "POST", "/_ck/clock", step).status)
            }
            #expect(statuses == Array(repeating: 200, count: 8) + [400])
            #expect(try await Self.ask(server, "GET", "/_ck/clock").status == 200)
        }
    }

    @Test("The time moves forward where the configuration has a clock that can")
    func clock() async throws {
        let step: JSON = ["advanceSeconds": .int(15 * 24 * 60 * 60)]
        try await Self.run({ $0.hasVirtualClock = true }) { server in
            #expect(try await server.call("zones/list", [:]).status == 200)
            let before = try await Self.ask(server, "GET", "/_ck/clock").body.milliseconds
            let after = try await Self.ask(server, "POST", "/_ck/clock", step).body.milliseconds
            guard case (.int(let first), .int(let second)) = (before, after) else {
                Issue.record("The clock shows nothing")
                return
            }
            #expect(second - first >= 15 * 24 * 60 * 60 * 1000)
            #expect(try await server.call("zones/list", [:]).status == 421)
            for bad: JSON in [["advanceSeconds": -1], ["advanceSeconds": .double(1e300)]] {
                #expect(try await Self.ask(server, "POST", "/_ck/clock", bad).status == 400)
            }
        }
        try await Self.run { server in
            let response = try await Self.ask(server, "POST", "/_ck/clock", step)
            #expect(response.status == 404)
        }
    }

    @Test("The user's header works on a loopback server that was set to believe it")
    func userHeader() async throws {
        let path = "/database/1/\(TestServer.container)/development/private/users/caller"
        for isOn in [true, false] {
            try await Self.run({ $0.service.acceptsUserNames = isOn }) { server in
                let response = try await server.send(
                    "\(server.url)\(path)?ckAPIToken=\(server.apiToken)",
                    method: "GET",
                    headers: [("X-CloudKit-User", "Eve")]
                )
                #expect(response.status == (isOn ? 200 : 421))
            }
        }
    }
}
