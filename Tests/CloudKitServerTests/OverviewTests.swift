import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import ServerFixtures
import ServiceLifecycle
import Testing

@Suite("What operators look at")
struct OverviewTests {
    private static let key = "a key that only tests know"
    private static let container = "containers/\(TestServer.container)"

    private static func run(
        _ change: (inout CloudServer.Configuration) -> Void = { _ in },
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = key
        configuration.version = "1.2.3"
        change(&configuration)
        try await TestServer.run(configuration, test)
    }

    private static func ask(
        _ server: TestServer,
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        headers: [(String, String)] = []
    ) async throws -> TestServer.Response {
        try await server.send(
            server.url + "/_ck/" + path,
            method: method,
            headers: [("Authorization", "Bearer \(key)")] + headers,
            try body.map { try JSONEncoder().encode($0) } ?? Data()
        )
    }

    @Test("Without the key nobody looks, opens a session or reads a schema")
    func key() async throws {
        try await Self.run { server in
            for (method, path) in [
                ("GET", "overview"), ("GET", "journal/1"), ("GET", "journal?after=0&wait=1"),
                ("POST", Self.container + "/sessions"),
                ("GET", Self.container + "/schemas/development"),
                ("PUT", Self.container + "/schemas/development"),
                ("POST", Self.container + "/schemas/production/deploy"),
            ] {
                let response = try await server.send(server.url + "/_ck/" + path, method: method)
                #expect(response.status == 403, "\(method) \(path)")
            }
        }
    }

    @Test("The overview counts users, zones, records and bytes, of living ones alone")
    func overview() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            try await server.addZone("Old")
            let text: JSON = ["text": ["value": "abc"]]
            _ = try await server.save(
                ["a", "b", "c"].map { FixtureCloud.note("create", $0, text) }
            )
            _ = try await server.save([FixtureCloud.note("create", "d")], in: "Old")
            _ = try await server.save([FixtureCloud.note("forceDelete", "c")])
            _ = try await server.call(
                "zones/modify",
                [
                    "operations": [
                        ["operationType": "delete", "zone": ["zoneID": ["zoneName": "Old"]]]
                    ]
                ]
            )
            let body = try await Self.ask(server, "GET", "overview").body
            #expect((body.version, body.actsAsUsers, body.faultRules) == ("1.2.3", true, 0))
            let container = body.containers[0]
            #expect((container.container.text, container.users) == (TestServer.container, 1))
            let development = container.environments[0]
            #expect((development.environment, development.records) == ("development", 2))
            // The zones of the public database and of the user: a default zone each, and Notes.
            #expect(development.zones == 3)
            #expect(development.bytes != 0)
            #expect(development.recordTypes == ["Note"])
            #expect(container.environments[1].records == 0)
        }
    }

    @Test("The journal lists what came after a number, and waits for it")
    func journal() async throws {
        try await Self.run { server in
            _ = try await server.call("zones/list", [:])
            let first = try await Self.ask(server, "GET", "journal").body
            #expect(first.last == 1)
            #expect(first.entries[0].number == 1)
            let none = try await Self.ask(server, "GET", "journal?after=1")
            #expect(none.body.entries.elements == [])
            async let news = Self.ask(server, "GET", "journal?after=1&wait=25")
            _ = try await server.call("users/caller", [:])
            let entry = try await news.body.entries[0]
            #expect((entry.number, entry.endpoint) == (2, "users/caller"))
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            #expect(entry.user == users[0].userRecordName)
            // Numbers continue, and one from an earlier run of the server gets an immediate response.
            #expect(try await Self.ask(server, "DELETE", "journal").body.last == 2)
            #expect(try await Self.ask(server, "GET", "journal?after=7&wait=25").body.last == 2)
            let stillNone = try await Self.ask(server, "GET", "journal?after=2&wait=0.01")
            #expect(stillNone.body.entries.elements == [])
        }
    }

    @Test(
        "A server that stops responds at once to who waits, and says that it closes the connection",
        .timeLimit(.minutes(5))
    )
    func stop() async throws {
        var configuration = CloudServer.Configuration()
        configuration.administrationKey = Self.key
        configuration.courierSeconds = 3600
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try CloudServer(configuration: configuration, logger: logger)
        let services = ServiceGroup(configuration: .init(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let url = try await server.url()
            let client = TestServer(url: url, apiToken: "", webToken: "", service: nil)
            try await RawConnection.run(client) { connection in
                let headers = ["Host: 127.0.0.1", "Authorization: Bearer \(Self.key)"]
                try await connection.send("GET", "/_ck/journal", headers)
                let first = try #require(try await connection.response())
                #expect(!first.head.contains("Connection:"), "\(first.head)")
                try await connection.send("GET", "/_ck/journal?after=0&wait=3600", headers)
                while !server.metrics.text.contains("cloudkit_requests_in_flight 1") {
                    await Task.yield()
                }
                await services.triggerGracefulShutdown()
                let last = try #require(try await connection.response())
                #expect(try JSON(Data(last.body.utf8)).last == 0)
                #expect(last.head.contains("Connection: close"), "\(last.head)")
                #expect(try await connection.response() == nil)
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "A response that was ready before the server began to stop says that it is the last, too",
        .timeLimit(.minutes(5))
    )
    func stopAfterResponse() async throws {
        var configuration = CloudServer.Configuration()
        configuration.faults = FaultPlan(rules: [
            FaultRule(.delay(milliseconds: 3_600_000), operation: "zones/list")
        ])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try CloudServer(configuration: configuration, logger: logger)
        let token = try await server.service.addAPIToken(
            container: TestServer.container,
            environment: .development
        )
        let user = try await server.service.addUser(container: TestServer.container, name: "Ada")
        let session = try await server.service.addWebAuthToken(
            user: user,
            apiToken: token,
            environment: .development
        )
        let services = ServiceGroup(configuration: .init(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let client = TestServer(
                url: try await server.url(),
                apiToken: token,
                webToken: session,
                service: server.service
            )
            try await RawConnection.run(client) { connection in
                try await connection.send("POST", client.target("users/caller"), body: "{}")
                let first = try #require(try await connection.response())
                #expect(first.status == 200)
                #expect(!first.head.lowercased().contains("connection:"), "\(first.head)")
                try await connection.send("POST", client.target("zones/list"), body: "{}")
                // The journal has the response, which the fault delays.
                while server.journal.entries.last?.endpoint != "zones/list" { await Task.yield() }
                await services.triggerGracefulShutdown()
                let last = try #require(try await connection.response())
                #expect(last.status == 200)
                #expect(last.head.lowercased().contains("connection: close"), "\(last.head)")
                #expect(try await connection.response() == nil)
            }
            try await group.waitForAll()
        }
    }

    @Test("An entry shows the beginnings of its bodies, without what opens anything")
    func bodies() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let text: JSON = ["text": ["value": .string(String(repeating: "x", count: 9000))]]
            _ = try await server.save([FixtureCloud.note("create", "a", text)])
            let url = server.endpoint("tokens/create")
                .replacing("/database/1/", with: "/device/1/").replacing("/private/", with: "/")
            let made = try await server.send(url, Data(#"{"apnsEnvironment":"development"}"#.utf8))
            let secret = try #require(made.body.webcourierURL.text)
            let modify = try await Self.ask(server, "GET", "journal/2").body
            #expect(modify.bodies.isWhole == false)
            #expect(modify.bodies.request.text?.utf8.count == 8192)
            let token = try await Self.ask(server, "GET", "journal/3")
            #expect(token.body.bodies.response.text?.contains("webcourierURL") == true)
            let shown = String(decoding: token.data, as: UTF8.self)
            for hidden in [secret, made.body.apnsToken.text ?? secret, server.webToken] {
                #expect(
                    !shown.contains(hidden.replacing("/", with: "\\/")) && !shown.contains(hidden)
                )
            }
            #expect(try await Self.ask(server, "GET", "journal/99").status == 404)
            #expect(try await Self.ask(server, "GET", "journal/x").status == 404)
        }
    }

    @Test("A server that others can reach keeps no bodies, and lets its operator act as no user")
    func others() async throws {
        try await Self.run({ $0.allowedHosts = ["cloud.example.com"] }) { server in
            _ = try await server.call("zones/list", [:])
            #expect(try await Self.ask(server, "GET", "journal/1").body.bodies == .null)
            #expect(try await Self.ask(server, "GET", "overview").body.actsAsUsers == false)
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            let path = Self.container + "/sessions"
            let user: JSON = [
                "environment": "development", "userRecordName": users[0].userRecordName,
            ]
            #expect(try await Self.ask(server, "POST", path, user).status == 403)
            let nobody = try await Self.ask(server, "POST", path, ["environment": "development"])
            #expect(nobody.body.apiToken.text?.count == 64)
            #expect(nobody.body.webAuthToken == .null)
        }
    }

    @Test("A session acts as a user on this machine, and not for a request that was passed on")
    func sessions() async throws {
        try await Self.run { server in
            let users = try await Self.ask(server, "GET", Self.container + "/users").body.users
            let path = Self.container + "/sessions"
            let asked: JSON = [
                "environment": "development", "userRecordName": users[0].userRecordName,
            ]
            let passedOn = [("X-Forwarded-For", "192.0.2.1")]
            #expect(
                try await Self.ask(server, "POST", path, asked, headers: passedOn).status == 403
            )
            let made = try await Self.ask(server, "POST", path, asked).body
            let web = FixtureCloud.escape(try #require(made.webAuthToken.text))
            let who = try await server.send(
                "\(server.url)/database/1/\(TestServer.container)/development/public/users/caller"
                    + "?ckAPIToken=\(try #require(made.apiToken.text))&ckWebAuthToken=\(web)",
                method: "GET"
            )
            #expect(who.body.userRecordName == users[0].userRecordName)
            let unknown: JSON = ["environment": "development", "userRecordName": "_nobody"]
            #expect(try await Self.ask(server, "POST", path, unknown).status == 404)
            let nowhere = try await Self.ask(
                server,
                "POST",
                "containers/nowhere/sessions",
                ["environment": "development"]
            )
            #expect(nowhere.status == 404)
        }
    }

    @Test("A schema is read as text and as types, checked, imported and deployed")
    func schemas() async throws {
        try await Self.run { server in
            let path = Self.container + "/schemas/development"
            let text =
                "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, secret ENCRYPTED STRING);"
            let dry = try await Self.ask(
                server,
                "PUT",
                path,
                ["text": .string(text), "isDryRun": true]
            )
            #expect(dry.body.changes.elements.isEmpty == false)
            #expect(try await Self.ask(server, "GET", path).body.outline.recordTypes.elements == [])
            #expect(try await Self.ask(server, "PUT", path, ["text": .string(text)]).status == 200)
            let read = try await Self.ask(server, "GET", path).body
            #expect(read["text"].text?.contains("title STRING QUERYABLE") == true)
            let fields = read.outline.recordTypes[0].fields.elements
            let title = try #require(fields.first { $0.name == "title" })
            #expect((title.type, title.indexes) == ("STRING", ["QUERYABLE"]))
            #expect(fields.first { $0.name == "secret" }?.isEncrypted == true)
            let wrong = try await Self.ask(server, "PUT", path, ["text": "DEFINE SCHEMA\nNONSENSE"])
            #expect(wrong.status == 400)
            #expect(wrong.body.reason.text?.contains("line 2") == true)
            let deploy = Self.container + "/schemas/production/deploy"
            let preview = try await Self.ask(server, "POST", deploy, ["isDryRun": true])
            #expect(preview.body.changes.elements.isEmpty == false)
            #expect(try await Self.ask(server, "POST", deploy).body == preview.body)
            #expect(try await Self.ask(server, "POST", deploy).body.changes.elements == [])
            #expect(try await Self.ask(server, "POST", path + "/deploy").status == 404)
            #expect(
                try await Self.ask(server, "GET", Self.container + "/schemas/nowhere").status == 404
            )
        }
    }

    @Test("A change of an operator's ends a wait for the journal, which has no request of it")
    func operations() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let before = try await Self.ask(server, "GET", "journal").body
            guard case (.int(let last), .int(let count)) = (before.last, before.operations) else {
                Issue.record("The journal counts nothing")
                return
            }
            let path = "journal?after=\(last)&wait=30&operations=\(count)"
            async let response = Self.ask(server, "GET", path)
            #expect(try await Self.ask(server, "POST", Self.container + "/reset").status == 200)
            let news = try await response.body
            #expect(news.entries.elements == [])
            #expect(news.operations == .int(count + 1))
            // One that came before the wait ends it, too.
            #expect(try await Self.ask(server, "GET", path).body.operations == .int(count + 1))
        }
    }

    @Test("A fault waits for a request that it can affect, and the journal names it there alone")
    func reachOfFaults() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let saved = try await server.save([FixtureCloud.note("create", "a")])
            let rules = ["lostNotification", "staleTags", "itemError"].map { fault -> JSON in
                var rule: [String: JSON] = ["fault": .string(fault), "times": 1]
                if fault == "itemError" { rule["code"] = "NOT_FOUND" }
                return .object(rule)
            }
            _ = try await Self.ask(server, "PUT", "faults", ["rules": .array(rules)])
            #expect(try await server.call("zones/list", [:]).status == 200)
            let quiet = try await Self.ask(server, "GET", "faults")
            #expect(quiet.body.counts.elements.map(\.taken) == [0, 0, 0])
            let tag = saved.body.records[0].recordChangeTag
            _ = try await server.save([FixtureCloud.note("update", "a", tag: tag)])
            // The error of the item hides that its tag would have been stale.
            let state = try await Self.ask(server, "GET", "faults")
            #expect(state.body.counts.elements.map(\.taken) == [0, 0, 1])
            _ = try await server.save([FixtureCloud.note("update", "a", tag: tag)])
            let last = try await Self.ask(server, "GET", "faults")
            #expect(last.body.counts.elements.map(\.taken) == [0, 1, 1])
            let journal = try await Self.ask(server, "GET", "journal").body.entries.elements
            #expect(journal.suffix(3).map(\.faults) == [[], [2], [1]])
        }
    }

    @Test("The journal says which responses were lost or cut on purpose")
    func lossesInJournal() async throws {
        try await Self.run { server in
            let rules: [JSON] = [
                ["fault": "lostResponse", "call": 1],
                ["fault": "cutResponse", "bytes": 3, "call": 2],
                ["fault": "cutResponse", "bytes": 1_000_000, "call": 3],
                ["fault": "resetConnection", "call": 4],
            ]
            _ = try await Self.ask(server, "PUT", "faults", ["rules": .array(rules)])
            for isLost in [true, true, false, true] {
                // The client's error says nothing that the server knows.
                let response = try? await server.call("zones/list", [:])
                #expect((response == nil) == isLost)
            }
            let journal = try await Self.ask(server, "GET", "journal").body.entries.elements
            #expect(journal.map(\.loss) == ["lost", "cut", nil, "lost"])
            #expect(journal.map(\.faults) == [[0], [1], [], [3]])
        }
    }

    @Test("A field that an import over HTTP drops is gone from records, and the data is in order")
    func droppedField() async throws {
        try await Self.run { server in
            try await server.addZone("Notes")
            let fields: JSON = ["title": ["value": "tea"], "tags": ["value": ["x"]]]
            let saved = try await server.save([FixtureCloud.note("create", "a", fields)])
            #expect(saved.body.records[0].serverErrorCode == nil, "\(saved.body)")
            let path = Self.container + "/schemas/development"
            let text = try #require(try await Self.ask(server, "GET", path).body["text"].text)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("    tags ") }
            var body: [String: JSON] = ["text": .string(lines.joined(separator: "\n"))]
            body["isDryRun"] = true
            let dry = try await Self.ask(server, "PUT", path, .object(body))
            #expect(dry.body.changes.elements.map(\.losesData) == [true])
            let lookUp: JSON = [
                "zoneID": FixtureCloud.zone("Notes"), "records": [["recordName": "a"]],
            ]
            let before = try await server.call("records/lookup", lookUp).body.records[0]
            #expect(before.fields.keys == ["title", "tags"])
            body["isDryRun"] = false
            #expect(try await Self.ask(server, "PUT", path, .object(body)).body == dry.body)
            let after = try await server.call("records/lookup", lookUp).body.records[0]
            #expect(after.fields.keys == ["title"])
            #expect(after.recordChangeTag != before.recordChangeTag)
            #expect(try await server.service?.check().findings == [])
        }
    }
}
