import AsyncHTTPClient
import CloudKitServer
import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The web courier over HTTP", .timeLimit(.minutes(10)))
struct CourierTests {
    private func waiters(_ server: TestServer, _ count: Int) async {
        while server.waitingRequests != count { await Task.yield() }
    }

    private func listen(_ server: TestServer) async throws -> String {
        let token = FixtureCloud.escape(server.webToken)
        let response = try await server.send(
            "\(server.url)/device/1/\(TestServer.container)/development/tokens/create"
                + "?ckAPIToken=\(server.apiToken)&ckWebAuthToken=\(token)",
            Data(#"{"apnsEnvironment":"development"}"#.utf8)
        )
        return try #require(response.body.webcourierURL.text)
    }

    private func subscribe(_ server: TestServer) async throws {
        try await server.addZone("Notes")
        let subscription: JSON = ["subscriptionID": "d", "subscriptionType": "database"]
        let response = try await server.call(
            "subscriptions/modify",
            ["operations": [["operationType": "create", "subscription": subscription]]]
        )
        #expect(response.body.subscriptions[0].subscriptionID == "d")
    }

    @Test("A request waits at the server's own address and ends with a change")
    func push() async throws {
        try await TestServer.run { server in
            try await subscribe(server)
            let url = try await listen(server)
            #expect(url.hasPrefix(server.url + "/aps?tok="))
            async let response = server.send(url, method: "GET")
            await waiters(server, 1)
            _ = try await server.save([FixtureCloud.note("create", "a")])
            #expect(try await response.body.ck.met.sid == "d")
            #expect(server.waitingRequests == 0)
        }
    }

    @Test("Without a change the response is empty when the time is over")
    func timeout() async throws {
        try await TestServer.run(.init(courierSeconds: 0.05)) { server in
            let response = try await server.send(try await listen(server), method: "GET")
            #expect(response.status == 200)
            #expect(response.data.isEmpty)
            #expect(server.waitingRequests == 0)
        }
    }

    @Test("A client that goes away leaves no request behind, and what comes later is kept")
    func disconnect() async throws {
        try await TestServer.run { server in
            try await subscribe(server)
            let url = try await listen(server)
            let request = Task { try await server.send(url, method: "GET") }
            await waiters(server, 1)
            request.cancel()
            await waiters(server, 0)
            _ = try await server.save([FixtureCloud.note("create", "a")])
            let response = try await server.send(url, method: "GET")
            #expect(response.body.ck.met.sid == "d")
        }
    }

    @Test("Many clients wait at once, and each is notified")
    func many() async throws {
        try await TestServer.run { server in
            try await subscribe(server)
            var urls: [String] = []
            for _ in 0..<6 { urls.append(try await listen(server)) }
            let names = try await withThrowingTaskGroup(of: String?.self) { group in
                for url in urls {
                    group.addTask {
                        try await server.send(url, method: "GET").body.ck.met.sid.text
                    }
                }
                await waiters(server, 6)
                _ = try await server.save([FixtureCloud.note("create", "a")])
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(names == Array(repeating: "d", count: 6))
        }
    }

    @Test("A server that ends responds to those who wait")
    func shutdown() async throws {
        let request = AsyncStream<Task<TestServer.Response, any Error>>.makeStream()
        try await TestServer.run { server in
            let url = try await listen(server)
            let task = Task { try await server.send(url, method: "GET") }
            await waiters(server, 1)
            request.continuation.yield(task)
        }
        for await task in request.stream {
            // It ends with an empty response or is cut off, but does not wait forever.
            _ = await task.result
            break
        }
    }

    private func plan(_ server: TestServer, _ fault: Fault) {
        server.service?.setFaults(
            FaultPlan(rules: [FaultRule(fault, operation: "push/wait", call: 1)])
        )
    }

    @Test("A wait is refused, reset, cut or ended late as a plan of faults says")
    func faults() async throws {
        try await TestServer.run { server in
            try await subscribe(server)
            let url = try await listen(server)
            func change(_ name: String) async throws {
                _ = try await server.save([FixtureCloud.note("create", name)])
            }
            try await change("a")
            plan(server, .error(.tryAgainLater, retryAfter: 1))
            let refused = try await server.send(url, method: "GET")
            #expect((refused.status, refused.body.serverErrorCode) == (503, "TRY_AGAIN_LATER"))
            plan(server, .resetConnection)
            await #expect(throws: (any Error).self) {
                _ = try await server.send(url, method: "GET")
            }
            // Neither has taken the waiting notification.
            plan(server, .delay(milliseconds: 20))
            let start = ContinuousClock.now
            let late = try await server.send(url, method: "GET")
            #expect(late.body.ck.met.sid == "d")
            #expect(ContinuousClock.now - start >= .milliseconds(20))
            try await change("c")
            plan(server, .cutResponse(bytes: 3))
            await #expect(throws: (any Error).self) {
                _ = try await server.send(url, method: "GET")
            }
        }
    }

    @Test("A notification that is lost on its way leaves the request waiting for the next")
    func lost() async throws {
        try await TestServer.run { server in
            try await subscribe(server)
            let url = try await listen(server)
            plan(server, .lostNotification)
            async let response = server.send(url, method: "GET")
            await waiters(server, 1)
            _ = try await server.save([FixtureCloud.note("create", "a")])
            while server.service?.faultCounts.first?.taken != 1 { await Task.yield() }
            #expect(server.waitingRequests == 1)
            try await server.addZone("More")
            #expect(try await response.body.ck.met.sid == "d")
        }
    }

    @Test("A process that works on a server's folder wakes the server's requests")
    func servers() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CourierTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path
        try await TestServer.run(.init(directory: path)) { first in
            try await subscribe(first)
            let url = try await listen(first)
            let service = CloudService(
                storage: try SQLiteStorage(path: path + "/cloud.sqlite"),
                assets: try FileAssetStorage(directory: path + "/assets"),
                clock: SystemClock(),
                randomness: SystemRandomness()
            )
            try await TestServer.run(CloudServer(serving: service)) { second in
                let there = second.url + url.dropFirst(first.url.count)
                async let response = second.send(there, method: "GET")
                await waiters(second, 1)
                _ = try await first.save([FixtureCloud.note("create", "a")])
                #expect(try await response.body.ck.met.sid == "d")
            }
        }
    }
}
