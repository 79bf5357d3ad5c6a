import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Synchronization
import Testing

@Suite("Tokens and the web courier")
struct CourierTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        try await cloud.subscribe("d", as: ada)
    }

    private func change(_ name: String = "a") async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("forceReplace", name)])
    }

    /// Yields until a number of requests wait.
    private func waiters(_ count: Int) async {
        while cloud.service.waitingRequests != count { await Task.yield() }
    }

    @Test("A token comes with the URL to wait at")
    func create() async throws {
        let response = try await cloud.tokens("create", as: ada)
        let token = try #require(response.body.apnsToken.text)
        #expect(response.status == 200)
        #expect(token.count == 64)
        #expect(response.body.apnsEnvironment == "development")
        #expect(
            response.body.webcourierURL == .string("http://cloud.test/aps?tok=\(token)&ttl=43200")
        )
    }

    @Test(
        "The path that the documents name for tokens is refused as Apple's service refuses it",
        arguments: ["create", "register"]
    )
    func documentedPath(action: String) async throws {
        let token = String(repeating: "ab", count: 32)
        let response = try await cloud.tokens(action, as: ada, token: token, module: "database")
        #expect(response.status == 405)
        #expect(response.headers["Allow"] == "OPTIONS")
        #expect(response.reason.contains("/device/1/"))
    }

    @Test("A client that names itself gets the same token again; no other client or user does")
    func names() async throws {
        let bob = try await cloud.addUser("Bob")
        let token = try await cloud.listen(as: ada, client: "phone").token
        #expect(try await cloud.listen(as: ada, client: "phone").token == token)
        #expect(try await cloud.listen(as: ada, client: "laptop").token != token)
        #expect(try await cloud.listen(as: bob, client: "phone").token != token)
        #expect(try await cloud.listen(as: ada).token != cloud.listen(as: ada).token)
    }

    @Test("Without a user there is no token")
    func nobody() async throws {
        #expect(try await cloud.tokens("create", as: nil).code == "AUTHENTICATION_REQUIRED")
        let short = try await cloud.tokens("register", as: ada, token: "short")
        #expect(short.code == "BAD_REQUEST")
    }

    @Test("Nothing but tokens is found on the path of devices")
    func path() async throws {
        let path = "/device/1/\(FixtureCloud.container)/development/records/query"
        let response = await cloud.service.respond(
            to: ServiceRequest(
                method: "POST",
                path: path,
                query: "ckAPIToken=\(cloud.apiToken)",
                baseURL: ""
            )
        )
        #expect(response.status == 404)
    }

    @Test("A request waits until something is pushed, and takes one notification")
    func waiting() async throws {
        let listener = try await cloud.listen(as: ada)
        async let response = listener.next()
        await waiters(1)
        try await change()
        #expect(try await response.body.ck.met.sid == "d")
        #expect(try await listener.waiting().isEmpty)
        #expect(cloud.service.waitingRequests == 0)
    }

    @Test("Of several requests that wait for one token, each notification goes to one")
    func sharing() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe(
            "q",
            "query",
            as: ada,
            ["query": ["recordType": "Note"], "firesOn": ["create"]]
        )
        async let first = listener.next()
        async let second = listener.next()
        await waiters(2)
        try await change()
        let pushes = try await [first, second]
        #expect(Set(pushes.map(\.body.ck.met.sid)) == ["d", nil])
        #expect(Set(pushes.map(\.body.ck.qry.sid)) == ["q", nil])
        #expect(cloud.service.waitingRequests == 0)
    }

    @Test("A request that is cancelled returns nothing, takes nothing and leaves nothing behind")
    func cancellation() async throws {
        let listener = try await cloud.listen(as: ada)
        let request = Task { try await listener.next() }
        await waiters(1)
        request.cancel()
        #expect(try await request.value.body == .null)
        #expect(cloud.service.waitingRequests == 0)
        try await change()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await listener.next()
        }
        #expect(try await late.value.body == .null)
        #expect(try await listener.waiting().count == 1)
    }

    @Test("More requests than a token may have end the oldest, empty")
    func crowd() async throws {
        let listener = try await cloud.listen(as: ada)
        let isOver = Mutex(false)
        let oldest = Task {
            defer { isOver.withLock { $0 = true } }
            return try await listener.next()
        }
        await waiters(1)
        let others = (1...8).map { _ in Task { try await listener.next() } }
        // All nine wait if none was ended.
        while cloud.service.waitingRequests < 9, !isOver.withLock({ $0 }) { await Task.yield() }
        #expect(cloud.service.waitingRequests <= 8)
        oldest.cancel()
        let response = try await oldest.value
        #expect(response.status == 200)
        #expect(response.body == .null)
        await waiters(8)
        for other in others { other.cancel() }
        for other in others { #expect(try await other.value.body == .null) }
    }

    @Test("A token that nobody made, or that was not used for long, is not found")
    func expiry() async throws {
        let listener = try await cloud.listen(as: ada, client: "phone")
        let day: Int64 = 24 * 60 * 60
        cloud.clock.advance(seconds: day / 4)
        try await change()
        #expect(try await listener.next().status == 200)
        cloud.clock.advance(seconds: day / 4 + 60)
        try await change()
        // It was used in the meantime.
        #expect(try await listener.next().status == 200)
        cloud.clock.advance(seconds: day)
        #expect(try await listener.next().code == "NOT_FOUND")
        try await change()
        #expect(try await listener.waiting().isEmpty)
        let again = try await cloud.listen(as: ada, client: "phone")
        try await change()
        #expect(try await again.next().status == 200)
        let unknown = await cloud.service.respond(
            to: ServiceRequest(method: "GET", path: "/aps", query: "tok=1234", baseURL: "")
        )
        #expect(unknown.status == 404)
    }

    @Test("A token that another user registers notifies nobody of the first any more")
    func registration() async throws {
        let bob = try await cloud.addUser("Bob")
        let token = String(repeating: "ab", count: 32)
        #expect(try await cloud.tokens("register", as: ada, token: token).body == [:])
        try await change()
        #expect(try await cloud.service.notifications(waitingFor: token).count == 1)
        #expect(try await cloud.tokens("register", as: bob, token: token).status == 200)
        #expect(try await cloud.service.notifications(waitingFor: token).isEmpty)
        try await change()
        #expect(try await cloud.service.notifications(waitingFor: token).isEmpty)
    }

    @Test("A user has fifty tokens at most; the one that was used longest ago goes")
    func tokens() async throws {
        var listeners: [FixtureCloud.Listener] = []
        for _ in 1...51 {
            cloud.clock.advance(seconds: 1)
            listeners.append(try await cloud.listen(as: ada))
        }
        // There is a notification, so that no request waits.
        try await change()
        #expect(try await listeners[0].next().status == 404)
        #expect(try await listeners[1].next().status == 200)
        #expect(try await listeners[50].next().status == 200)
    }

    @Test("What waits survives the end of the service")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/cloud.sqlite"
        let url: String
        do {
            let cloud = try await FixtureCloud(storage: SQLiteStorage(path: file))
            let ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
            try await cloud.subscribe("d", as: ada)
            let listener = try await cloud.listen(as: ada)
            url = listener.url
            _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
            #expect(try await listener.waiting().count == 1)
            // Only the client has the secret.
            let stored = try ["", "-wal"].map { suffix in
                FileManager.default.fileExists(atPath: file + suffix)
                    ? try Data(contentsOf: URL(fileURLWithPath: file + suffix)) : Data()
            }
            for bytes in stored { #expect(bytes.range(of: Data(listener.token.utf8)) == nil) }
        }
        let cloud = try await FixtureCloud(storage: SQLiteStorage(path: file))
        let response = try FixtureCloud.Response(
            await cloud.service.respond(
                to: ServiceRequest(
                    method: "GET",
                    path: "/aps",
                    query: url.split(separator: "?").last.map(String.init),
                    baseURL: ""
                )
            )
        )
        #expect(response.body.ck.met.sid == "d")
    }
}
