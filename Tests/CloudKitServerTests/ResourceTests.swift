import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import NIOCore
import ServerFixtures
import Synchronization
import Testing

@Suite("Clients that want too much of the server", .timeLimit(.minutes(2)))
struct ResourceTests {
    @Test("A request without good credentials is refused before its body is read")
    func unknown() async throws {
        // A server that waits for the body ends the wait without a response.
        let configuration = CloudServer.Configuration(idleSeconds: 15)
        try await TestServer.run(configuration) { server in
            let base = "/database/1/\(TestServer.container)/development"
            let key = "ckAPIToken=\(server.apiToken)"
            for (target, status) in [
                ("\(base)/private/records/modify", 401),
                ("\(base)/private/records/modify?ckAPIToken=0000", 401),
                ("\(base)/private/records/modify?\(key)", 421),
                ("\(base)/private/records/modify?\(key)&ckWebAuthToken=x", 421),
                ("\(base)/public/records/modify?ckAPIToken=0000", 401),
                ("\(base)/public/tokens/create", 405), ("\(base)/public/tokens/register", 405),
                ("/nowhere", 404), ("/assets/upload/AAAA", 403), ("/_ck/journal", 403),
            ] {
                // The body is announced but never sent.
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send("POST", target, length: 15 << 20)
                    return try await connection.response()
                }
                try #require(response?.status == status, "\(target)")
            }
            let signed = try await RawConnection.run(server) { connection in
                let prefix = "X-Apple-CloudKit-Request-"
                try await connection.send(
                    "POST",
                    "\(base)/public/records/modify",
                    [
                        "Host: 127.0.0.1", "\(prefix)KeyID: 00", "\(prefix)SignatureV1: AAAA",
                        "\(prefix)ISO8601Date: 2026-01-01T00:00:00Z",
                    ],
                    length: 15 << 20
                )
                return try await connection.response()
            }
            #expect(signed?.status == 401)
        }
    }

    @Test("A body that is announced longer than allowed is refused before it comes")
    func announced() async throws {
        try await TestServer.run { server in
            let response = try await RawConnection.run(server) { connection in
                try await connection.send("POST", server.target("zones/list"), length: 1 << 40)
                return try await connection.response()
            }
            #expect(response?.status == 400)
        }
    }

    @Test(
        "An upload that is announced longer than an asset or the quota is refused before it comes"
    )
    func announcedUpload() async throws {
        var configuration = CloudServer.Configuration()
        configuration.service.userQuotaBytes = 1000
        try await TestServer.run(configuration) { server in
            try await server.addZone("Notes")
            for (length, status) in [(60 << 20, 400), (1001, 413)] {
                let token: JSON = [
                    "recordName": "a", "recordType": "Note", "fieldName": "photo",
                ]
                let places = try await server.call(
                    "assets/upload",
                    ["zoneID": FixtureCloud.zone("Notes"), "tokens": [token]]
                )
                let address = places.body.tokens[0].url.text ?? ""
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send(
                        "POST",
                        String(address.dropFirst(server.url.count)),
                        length: length
                    )
                    return try await connection.response()
                }
                #expect(response?.status == status)
                // Nothing was received: the address is still valid.
                let sent = try await server.send(address, Data(count: 10))
                #expect(sent.status == 200)
            }
        }
    }

    @Test("A connection too many is asked to come again, and those that are there go on")
    func connections() async throws {
        // A connection that is accepted but gets no response ends, too.
        var each = CloudServer.Configuration(idleSeconds: 30)
        each.maxConnectionsPerAddress = 3
        var all = CloudServer.Configuration(idleSeconds: 30)
        all.maxConnections = 3
        for configuration in [each, all] {
            try await TestServer.run(configuration) { server in
                func list(_ connection: inout RawConnection) async throws -> Int? {
                    try await connection.send("POST", server.target("zones/list"), body: "{}")
                    return try await connection.response()?.status
                }
                func expectList(_ connection: inout RawConnection) async throws {
                    let status = try await list(&connection)
                    #expect(status == 200)
                }
                try await RawConnection.run(server) { first in
                    try await expectList(&first)
                    try await RawConnection.run(server) { second in
                        try await expectList(&second)
                        try await RawConnection.run(server) { third in
                            try await expectList(&third)
                            try await RawConnection.run(server) { fourth in
                                let response = try await fourth.response()
                                #expect(response?.status == 503)
                                let error = try JSON(Data((response?.body ?? "").utf8))
                                #expect(error.serverErrorCode == "TRY_AGAIN_LATER")
                                #expect(error.reason.text?.contains("3 connections") == true)
                                #expect(error.reason.text?.contains("--max-connections") == true)
                                let end = try await fourth.response()
                                #expect(end == nil)
                            }
                            try await expectList(&third)
                        }
                        // The server notices a moment later that the third has disconnected.
                        var status: Int?
                        while status != 200 {
                            status = try await RawConnection.run(server) { fifth in
                                try? await list(&fifth)
                            }
                        }
                    }
                    try await expectList(&first)
                }
            }
        }
    }

    @Test("Connections that are refused are counted, and one line in the log reports them")
    func refusals() async throws {
        let lines = LogLines()
        var configuration = CloudServer.Configuration()
        configuration.maxConnectionsPerAddress = 1
        let logger = Logger(label: "test") { _ in lines.handler }
        try await TestServer.run(CloudServer(configuration: configuration, logger: logger)) {
            server in
            try await RawConnection.run(server) { first in
                try await first.send("GET", "/health/live")
                let live = try await first.response()
                #expect(live?.status == 200)
                for _ in 0..<3 {
                    try await RawConnection.run(server) { other in
                        let response = try await other.response()
                        #expect(response?.status == 503)
                        let body = try JSON(Data((response?.body ?? "").utf8))
                        let id = try #require(body.uuid.text)
                        #expect(response?.head.contains("X-Apple-Request-UUID: \(id)") == true)
                    }
                }
                try await first.send("GET", "/metrics")
                let metrics = try await first.response()?.body ?? ""
                #expect(metrics.contains("cloudkit_connections_refused_total 3"))
            }
            let told = lines.all.filter { $0["message"] == "Connections were refused" }
            #expect(told.count == 1)
            #expect(told.first?["level"] == "warning")
            #expect(told.first?["error"]?.contains("--max-connections-per-address") == true)
        }
    }

    @Test(
        "A request that comes byte by byte is ended when its time is over",
        arguments: ["head", "body", "unwanted body"]
    )
    func slow(_ what: String) async throws {
        var configuration = CloudServer.Configuration()
        configuration.requestSeconds = 1
        configuration.service.requestBodyBytes = 1000
        configuration.service.assetBytes = 1000
        try await TestServer.run(configuration) { server in
            try await RawConnection.run(server) { connection in
                switch what {
                case "head": try await connection.send("POST / HTTP/1.1\r\nX-Long: ")
                case "body":
                    try await connection.send("POST", server.target("zones/list"), length: 900)
                default: try await connection.send("POST", "/nowhere", length: 900)
                }
                let channel = connection.channel
                let drip = channel.eventLoop.scheduleRepeatedTask(
                    initialDelay: .milliseconds(50),
                    delay: .milliseconds(50)
                ) { _ in
                    channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
                }
                defer { drip.cancel() }
                let limit = ClosingLimit(channel)
                // The server's end of the connection is seen after its data.
                var last: RawConnection.Response?
                while let response = try? await connection.response() { last = response }
                #expect(await limit.isKept())
                // What is not wanted was answered before.
                #expect(last?.status == (what == "unwanted body" ? 404 : 408))
                guard what != "unwanted body" else { return }
                #expect(last?.body.contains("--request-seconds") == true)
            }
        }
    }

    @Test(
        "Bodies that wait take no more memory than there is for them; what does not fit may come again"
    )
    func bodies() async throws {
        var configuration = CloudServer.Configuration()
        configuration.memoryBytes = 1_000_000
        configuration.service.requestBodyBytes = 500_000
        let cloud = try CloudServer(configuration: configuration)
        try await TestServer.run(cloud) { server in
            let half = String(repeating: " ", count: 400_000)
            try await RawConnection.run(server) { first in
                try await first.send(
                    "POST",
                    server.target("zones/list"),
                    body: half,
                    length: 400_002
                )
                while cloud.bodyBytes < half.utf8.count { await Task.yield() }
                let second = try await server.send(
                    server.endpoint("zones/list"),
                    Data((half + "{}").utf8)
                )
                #expect((second.status, second.body.serverErrorCode) == (503, "TRY_AGAIN_LATER"))
                #expect(second.body.retryAfter == 1)
                #expect(second.headers["retry-after"] == "1")
                try await first.send("{}")
                let response = try await first.response()
                #expect(response?.status == 200)
            }
            let again = try await server.send(
                server.endpoint("zones/list"),
                Data((half + "{}").utf8)
            )
            #expect(again.status == 200)
        }
    }

    /// Saves notes, and returns the body of a request for all of them, whose response has twelve
    /// megabytes, more than the system buffers for a reader that does not read.
    private static func lookup(ofLargeNotesOn server: TestServer) async throws -> String {
        try await server.addZone("Notes")
        let text = String(repeating: "x", count: 900_000)
        for name in 0..<14 {
            let note = FixtureCloud.note("create", "n\(name)", ["text": ["value": .string(text)]])
            #expect(try await server.save([note]).status == 200)
        }
        let names = (0..<14).map { "{\"recordName\":\"n\($0)\"}" }.joined(separator: ",")
        return "{\"zoneID\":{\"zoneName\":\"Notes\"},\"records\":[\(names)]}"
    }

    /// The settings of a server that ends connections because of the sum of their responses alone.
    private static var littleMemory: CloudServer.Configuration {
        var configuration = CloudServer.Configuration()
        configuration.memoryBytes = 16 << 20
        configuration.service.requestBodyBytes = 8 << 20
        configuration.requestSeconds = 3_600
        configuration.idleSeconds = 3_600
        return configuration
    }

    @Test(
        "Responses that nobody reads take no more memory than there is, and the operator is notified"
    )
    func unread() async throws {
        let lines = LogLines()
        let logger = Logger(label: "test") { _ in lines.handler }
        let cloud = try CloudServer(configuration: Self.littleMemory, logger: logger)
        let key = try #require(cloud.administrationKey)
        try await TestServer.run(cloud) { server in
            let body = try await Self.lookup(ofLargeNotesOn: server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await RawConnection.run(server) { connection in
                            try await connection.send(
                                "POST",
                                server.target("records/lookup"),
                                body: body
                            )
                            // It reads nothing until the test is over.
                            let (end, continuation) = AsyncStream<Void>.makeStream()
                            for await _ in end {}
                            continuation.finish()
                        }
                    }
                }
                defer { group.cancelAll() }
                var largest = 0
                var responses: [Int] = []
                while responses.reduce(0, +) < 8 {
                    let metrics = try await Self.metrics(of: server)
                    let held = try #require(metrics["cloudkit_response_memory_bytes"])
                    largest = max(largest, held)
                    responses = metrics.filter {
                        $0.key.hasPrefix(#"cloudkit_requests_total{endpoint="records/lookup""#)
                    }.map(\.value)
                }
                #expect(largest >= 12_600_000)
                #expect(largest <= 2 * 16 << 20)
                let metrics = try await Self.metrics(of: server)
                let refused =
                    #"endpoint="records/lookup",status="503",code="TRY_AGAIN_LATER""#
                #expect(metrics["cloudkit_requests_total{\(refused)}"] ?? 0 > 0)
                #expect(metrics["cloudkit_responses_cut_total"] ?? 0 > 0)
            }
            let cut = lines.all.filter { $0["message"] == "A response was cut off" }
            let line = try #require(cut.first)
            #expect(line["level"] == "warning")
            #expect(line["endpoint"] == "records/lookup")
            let journal = try await server.send(
                server.url + "/_ck/journal",
                method: "GET",
                headers: [("Authorization", "Bearer \(key)")]
            )
            let entry = journal.body.entries.elements.first { $0.id.text == line["request.id"] }
            #expect(entry?.problems[0].code == "RESPONSE_CUT")
            // Everything was given back.
            while try await Self.metrics(of: server)["cloudkit_response_memory_bytes"] ?? 1 > 1
                << 20
            {}
        }
    }

    /// Returns the values of the metrics that are whole numbers, by their lines.
    private static func metrics(of server: TestServer) async throws -> [String: Int] {
        let response = try await server.send(server.url + "/metrics", method: "GET")
        let lines = String(decoding: response.data, as: UTF8.self).split(separator: "\n")
        var values: [String: Int] = [:]
        for line in lines {
            let parts = line.split(separator: " ")
            if let value = parts.last.flatMap({ Int($0) }) {
                values[parts.dropLast().joined(separator: " ")] = value
            }
        }
        return values
    }

    @Test("Of responses that are too many, those go whose readers take longest")
    func responses() async throws {
        try await TestServer.run(Self.littleMemory) { server in
            let body = try await Self.lookup(ofLargeNotesOn: server)
            let url = server.endpoint("records/lookup")
            try await RawConnection.run(server) { reader in
                try await reader.send("POST", server.target("records/lookup"), body: body)
                let channel = reader.channel
                // Others get responses, one after the other, until the server has ended the first.
                let isClosed = Mutex(false)
                channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
                let limit = ClosingLimit(channel)
                while !isClosed.withLock({ $0 }) {
                    let response = try await server.send(url, Data(body.utf8))
                    #expect(response.status == 200)
                    #expect(response.body.records.elements.count == 14)
                    // The end is seen by the sender.
                    channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
                }
                #expect(await limit.isKept())
            }
        }
    }

    @Test("A body that is cut short is the client's mistake, and an upload that is cut is not kept")
    func cut() async throws {
        try await TestServer.run { server in
            try await server.addZone("Notes")
            let token: JSON = ["recordName": "n1", "recordType": "Note", "fieldName": "image"]
            let prepared = try await server.call(
                "assets/upload",
                ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
            )
            let upload = try #require(prepared.body.tokens[0].url.text).dropFirst(server.url.count)
            for target in [server.target("zones/list"), String(upload)] {
                let response = try await RawConnection.run(server) { connection in
                    try await connection.send("POST", target, body: "{}", length: 100)
                    connection.finish()
                    return try await connection.response()
                }
                #expect(response.map { $0.status == 400 } ?? true, "\(target)")
                #expect(response?.body.contains("receipt") != true)
            }
            let metrics = try await server.send(server.url + "/metrics", method: "GET")
            #expect(!String(decoding: metrics.data, as: UTF8.self).contains("status=\"500\""))
        }
    }

    @Test("Asking for all users is the client's mistake")
    func allUsers() async throws {
        try await TestServer.run { server in
            let url = server.endpoint("users/discover").replacing("/private/", with: "/public/")
            let response = try await server.send(url, method: "GET")
            #expect((response.status, response.body.serverErrorCode) == (400, "BAD_REQUEST"))
        }
    }

    @Test("A connection on which a client waited is good for the next request")
    func courier() async throws {
        try await TestServer.run(.init(courierSeconds: 0.05)) { server in
            let token = FixtureCloud.escape(server.webToken)
            let made = try await server.send(
                "\(server.url)/device/1/\(TestServer.container)/development/tokens/create"
                    + "?ckAPIToken=\(server.apiToken)&ckWebAuthToken=\(token)",
                Data(#"{"apnsEnvironment":"development"}"#.utf8)
            )
            let url = try #require(made.body.webcourierURL.text)
            try await RawConnection.run(server) { connection in
                for _ in 0..<5 {
                    try await connection.send("GET", String(url.dropFirst(server.url.count)))
                    let found = try await connection.response()
                    let response = try #require(found)
                    #expect(response.status == 200)
                    #expect(!response.head.lowercased().contains("connection: close"))
                }
            }
        }
    }
}
