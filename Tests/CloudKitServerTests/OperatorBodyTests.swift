import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The bodies and queries of operators' routes")
struct OperatorBodyTests {
    private static let key = "a key that only tests know"
    private static let container = "containers/\(TestServer.container)"

    /// Runs a test with a server that has a zone, a record and the snapshot `s`; the test gets its user.
    private static func run(
        _ test: @escaping @Sendable (TestServer, JSON) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = key
        configuration.hasVirtualClock = true
        try await TestServer.run(configuration) { server in
            try await server.addZone("Notes")
            _ = try await server.save([FixtureCloud.note("create", "a")])
            #expect(try await ask(server, "PUT", container + "/snapshots/s").status == 200)
            let users = try await ask(server, "GET", container + "/users").body.users
            try await test(server, users[0].userRecordName)
        }
    }

    private static func ask(
        _ server: TestServer,
        _ method: String,
        _ path: String,
        _ body: Data = Data()
    ) async throws -> TestServer.Response {
        try await server.send(
            server.url + "/_ck/" + path,
            method: method,
            headers: [("Authorization", "Bearer \(key)")],
            body
        )
    }

    private static func ask(
        _ server: TestServer,
        _ method: String,
        _ path: String,
        _ body: [String: JSON]
    ) async throws -> TestServer.Response {
        try await ask(server, method, path, try JSONEncoder().encode(body))
    }

    /// A body for each route that reads one, with all of its keys.
    private static func bodies(_ server: TestServer, _ user: JSON) -> [String: [String: JSON]] {
        let rules: JSON = [["fault": "delay", "milliseconds": 0]]
        return [
            "PUT faults": ["seed": 1, "rules": rules],
            "POST faults": ["seed": 1, "rules": rules],
            "POST clock": ["advanceSeconds": 1_000_000_000],
            "POST containers/{id}/reset": ["keepsSchema": true],
            "POST containers/{id}/delete-zones": [
                "userRecordName": user, "zones": ["Notes"], "reason": "PURGED",
                "environment": "development",
            ],
            "POST containers/{id}/users": [
                "name": "Eve", "emailAddress": "eve@example.com", "environment": "development",
                "apiToken": .string(server.apiToken),
            ],
            "POST containers/{id}/sessions": [
                "environment": "development", "userRecordName": user,
            ],
            "POST containers/{id}/api-tokens": ["environment": "development"],
            "POST containers/{id}/server-keys": ["environment": "development", "publicKey": "PEM"],
            "PUT containers/{id}/users/{recordName}/roles": [
                "environment": "development", "roles": [],
            ],
            "PUT containers/{id}/schemas/{environment}": [
                "text": "DEFINE SCHEMA\nRECORD TYPE Other (a STRING);", "isDryRun": false,
            ],
            "POST containers/{id}/schemas/production/deploy": ["isDryRun": false],
            "POST containers/{id}/test-pushes": [
                "environment": "development", "userRecordName": user, "database": "private",
                "subscriptionID": "none",
            ],
        ]
    }

    private static func path(of route: OperatorRoute, _ user: JSON) -> String {
        let values = [
            "{id}": TestServer.container, "{recordName}": user.text ?? "", "{name}": "s",
            "{environment}": "development", "{number}": "1", "{credential}": "none",
        ]
        return route.path.split(separator: "/").map { values[String($0)] ?? String($0) }
            .joined(separator: "/")
    }

    /// Returns the parts of a cloud that the routes change.
    private static func state(of server: TestServer, _ user: JSON) async throws -> [JSON] {
        var state: [JSON] = []
        for path in [
            "users", "credentials", "snapshots", "schemas/development", "schemas/production",
            "users/\(user.text ?? "")/roles",
        ] {
            state.append(try await ask(server, "GET", "\(container)/\(path)").body)
        }
        state.append(try await ask(server, "GET", "faults").body)
        state.append(try await server.call("zones/list", [:]).body)
        state.append(.array(try await server.names().map { .string($0) }))
        return state
    }

    /// Bodies that a route does not read, each with a part of the reason that the response gives.
    private static func wrong(
        _ route: OperatorRoute,
        _ right: [String: JSON]
    ) throws -> [(body: Data, reason: String)] {
        let broken = [
            "{bad", "{\"a\": 1", "\u{1}", "{\"a\": 1,}", "{\"a\": 01}", "{} {}", "\u{FEFF}{}",
        ]
        var wrong = broken.map { (Data($0.utf8), "The body is not JSON") }
        wrong.append((Data("{\"a\": 1, \"a\": 2}".utf8), "The body has the key 'a' twice"))
        wrong += ["[]", "7", "null"].map { (Data($0.utf8), "The body is not a JSON object") }
        if !route.isBodyOptional { wrong.append((Data(), "The body is empty")) }
        func add(_ body: [String: JSON], _ reason: String) throws {
            wrong.append((try JSONEncoder().encode(body), reason))
        }
        try add(right.merging(["extra": 1]) { old, _ in old }, "'extra' means nothing to it")
        for (key, value) in right {
            var other = right
            other[key] = nil
            try add(
                other.merging([key + "x": value]) { old, _ in old },
                "'\(key)x' means nothing to it; did you mean '\(key)'"
            )
            other[key] = .null
            try add(other, "\(key) is null")
            other[key] = ["of": "another kind"]
            try add(other, key)
        }
        return wrong
    }

    @Test("A body that a route does not read is refused with its keys, and does nothing")
    func wrongBodies() async throws {
        try await Self.run { server, user in
            let bodies = Self.bodies(server, user)
            let before = try await Self.state(of: server, user)
            let token = try await server.call("changes/database", [:]).body.syncToken
            let start = try await Self.ask(server, "GET", "clock").body.milliseconds
            for route in OperatorRoute.all {
                let name = "\(route.method) \(route.path)"
                let right = bodies[name] ?? [:]
                #expect(Set(right.keys) == Set(route.keys), "\(name) needs a body in this test")
                let path = Self.path(of: route, user)
                for (body, reason) in try Self.wrong(route, right) {
                    let response = try await Self.ask(server, route.method, path, body)
                    let text = response.body.reason.text ?? ""
                    let sent = String(decoding: body, as: UTF8.self)
                    let comment: Comment = "\(name) \(sent): \(text)"
                    #expect(response.status == 400, comment)
                    #expect(response.body.serverErrorCode == "BAD_REQUEST", comment)
                    #expect(text.contains(reason), comment)
                    #expect(text.contains("\(route.method) /_ck/\(route.path) reads "), comment)
                    for key in route.keys { #expect(text.contains(key), comment) }
                }
                #expect(try await Self.state(of: server, user) == before, "\(name)")
                let changes = try await server.call("changes/database", ["syncToken": token])
                #expect(changes.status == 200, "\(name)")
            }
            let end = try await Self.ask(server, "GET", "clock").body.milliseconds
            guard case (.int(let start), .int(let end)) = (start, end) else {
                Issue.record("The clock shows nothing")
                return
            }
            #expect(end - start < 1_000_000_000_000)
        }
    }

    @Test("A query that a route does not read is refused with its parameters, and does nothing")
    func wrongQueries() async throws {
        try await Self.run { server, user in
            let bodies = Self.bodies(server, user)
            let before = try await Self.state(of: server, user)
            for route in OperatorRoute.all {
                let name = "\(route.method) \(route.path)"
                let path = Self.path(of: route, user)
                var queries = [
                    "keepsSchem=true": "'keepsSchem' in the query means nothing to it",
                    "%FF=1": "'%FF=1' in the query is not percent-encoded UTF-8",
                ]
                for parameter in route.parameters {
                    queries["\(parameter)=1&\(parameter)=2"] = "The query has '\(parameter)' twice"
                    queries["\(parameter)x=1"] = "did you mean '\(parameter)'?"
                    // A snapshot has any name.
                    guard parameter != "to" else { continue }
                    queries["\(parameter)=nan"] = "\(parameter) in the query is 'nan', not "
                    queries[parameter] = "\(parameter) in the query is '', not "
                }
                for (query, reason) in queries {
                    let response =
                        if let body = bodies[name] {
                            try await Self.ask(server, route.method, "\(path)?\(query)", body)
                        } else {
                            try await Self.ask(server, route.method, "\(path)?\(query)")
                        }
                    let text = response.body.reason.text ?? ""
                    let comment: Comment = "\(name)?\(query): \(text)"
                    #expect(response.status == 400, comment)
                    #expect(text.contains(reason), comment)
                    for parameter in route.parameters { #expect(text.contains(parameter), comment) }
                }
                #expect(try await Self.state(of: server, user) == before, "\(name)")
            }
        }
    }

    @Test("A name that nobody can read or reach is refused, and takes no other one's place")
    func names() async throws {
        try await Self.run { server, user in
            let before = try await Self.state(of: server, user)
            let long = String(repeating: "n", count: 256)
            for name in ["s%00x", "s%0A", "%20", "s%E2%80%AEx", "%E2%80%8B", long] {
                let path = "\(Self.container)/snapshots/\(name)"
                #expect(try await Self.ask(server, "PUT", path).status == 400, "\(name)")
                #expect(try await Self.ask(server, "DELETE", path).status == 404, "\(name)")
            }
            for name in [
                "Eve\u{0}", "Eve\nAda", " ", "", "\u{FEFF}", "\u{202E}gnp.exe", ".", "..", long,
            ] {
                let body: [String: JSON] = ["name": .string(name)]
                let response = try await Self.ask(server, "POST", Self.container + "/users", body)
                #expect(response.status == 400, "\(name)")
                #expect(response.body.reason.text?.contains("The user's name ") == true)
            }
            for odd in ["no%20way%2F", "%2E%2E", "%2E"] {
                let path = "containers/\(odd)/users?new=true"
                let response = try await Self.ask(server, "POST", path, ["name": "Eve"])
                #expect(response.status == 400, "\(odd)")
            }
            #expect(try await Self.state(of: server, user) == before)
            #expect(
                try await Self.ask(server, "GET", "overview").body.containers.elements.count == 1
            )
            // The same text in two forms of Unicode has two names.
            let composed = Self.container + "/snapshots/%C3%A9"
            #expect(try await Self.ask(server, "PUT", composed).status == 200)
            let other = Self.container + "/snapshots/e%CC%81"
            #expect(try await Self.ask(server, "DELETE", other).status == 404)
            #expect(try await Self.ask(server, "DELETE", composed).status == 200)
        }
    }

    @Test("A value that is none of a few is refused with all of them")
    func values() async throws {
        try await Self.run { server, user in
            func reason(_ path: String, _ body: [String: JSON]) async throws -> String {
                try await Self.ask(server, "POST", Self.container + path, body).body.reason.text
                    ?? ""
            }
            let environment = try await reason("/api-tokens", ["environment": "stage"])
            #expect(
                environment.hasPrefix("environment: 'stage' is none of development, production. ")
            )
            let push = Self.bodies(server, user)["POST containers/{id}/test-pushes"] ?? [:]
            let database = try await reason(
                "/test-pushes",
                push.merging(["database": "own"]) { $1 }
            )
            #expect(database.hasPrefix("database: 'own' is none of public, private, shared. "))
            let nobody = try await reason(
                "/sessions",
                ["environment": "development", "userRecordName": ""]
            )
            #expect(nobody.hasPrefix("No user '' in container "))
            let twice: [String: JSON] = [
                "userRecordName": user, "zones": ["Notes", "Notes"], "reason": "PURGED",
            ]
            #expect(try await reason("/delete-zones", twice) == "")
            let zones = try await server.call("zones/list", [:]).body.zones
            #expect(zones.elements.count == 1)
        }
    }

    @Test("The bodies that the other test spoils are read, and so is an object without keys")
    func rightBodies() async throws {
        try await Self.run { server, user in
            let bodies = Self.bodies(server, user)
            for route in OperatorRoute.all {
                guard let body = bodies["\(route.method) \(route.path)"] else { continue }
                let path = Self.path(of: route, user)
                let response = try await Self.ask(server, route.method, path, body)
                let text = response.body.reason.text ?? ""
                #expect(!text.contains(" reads "), "\(route.method) \(route.path): \(text)")
            }
            for path in ["expire-change-tokens", "snapshots/s/restore", "reset"] {
                for body in ["", "{}"] {
                    let path = "\(Self.container)/\(path)"
                    let response = try await Self.ask(server, "POST", path, Data(body.utf8))
                    #expect(response.status == 200, "\(path) \(body)")
                }
            }
        }
    }

    @Test("Added rules go on with the seed of those in force; another one is refused")
    func seed() async throws {
        try await Self.run { server, _ in
            let rules: JSON = [["fault": "delay", "milliseconds": 0]]
            func add(_ seed: JSON?) async throws -> TestServer.Response {
                var body = ["rules": rules]
                body["seed"] = seed
                return try await Self.ask(server, "POST", "faults", body)
            }
            #expect(try await add(7).body.plan.seed == 7)
            let other = try await add(9)
            #expect(other.status == 400)
            #expect(other.body.reason.text?.hasPrefix("seed is 9, but the rules in force") == true)
            #expect(try await add(7).status == 200)
            let last = try await add(nil)
            #expect(last.body.plan.seed == 7)
            #expect(last.body.plan.rules.elements.count == 3)
        }
    }
}
