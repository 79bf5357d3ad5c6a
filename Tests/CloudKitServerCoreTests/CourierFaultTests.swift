import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("What goes wrong on the web courier, and who is woken")
struct CourierFaultTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser("Ada Lovelace")
        for zone in ["Notes", "More"] { try await cloud.addZone(zone, as: ada) }
        try await cloud.subscribe("q", "query", as: ada, Self.query)
    }

    private static let query: [String: JSON] = [
        "query": ["recordType": "Note"], "firesOn": ["create"],
    ]

    private func plan(_ fault: Fault, call: Int? = nil, user: String? = nil) {
        cloud.service.setFaults(
            FaultPlan(rules: [FaultRule(fault, operation: "push/wait", user: user, call: call)])
        )
    }

    private func change(_ name: String) async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", name)])
    }

    private func response(_ listener: FixtureCloud.Listener) async -> ServiceResponse {
        await cloud.service.respond(
            to: ServiceRequest(
                method: "GET",
                path: "/aps",
                query: listener.url.split(separator: "?").last.map(String.init),
                baseURL: ""
            )
        )
    }

    @Test("A request that waits is refused with an error, and what waits is kept")
    func error() async throws {
        let listener = try await cloud.listen(as: ada)
        try await change("a")
        plan(.error(.tryAgainLater, retryAfter: 2), call: 1)
        let refused = try await listener.next()
        #expect(refused.status == 503)
        #expect(refused.body.retryAfter == 2)
        #expect(try await listener.next().body.ck.qry.rid == "a")
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 2, taken: 1)])
    }

    @Test("A connection that is reset before the queue is looked at loses nothing")
    func reset() async throws {
        let listener = try await cloud.listen(as: ada)
        try await change("a")
        plan(.resetConnection, call: 1)
        #expect(await response(listener).delivery.end == .lost)
        #expect(try await listener.waiting().count == 1)
        #expect(try await listener.next().body.ck.qry.rid == "a")
    }

    @Test("A response that is cut, lost or late has taken its notification: nobody acknowledges")
    func delivery() async throws {
        let listener = try await cloud.listen(as: ada)
        for (fault, name) in [
            (Fault.cutResponse(bytes: 5), "a"), (.lostResponse, "b"),
            (.delay(milliseconds: 9), "c"),
        ] {
            try await change(name)
            plan(fault)
            let delivery = await response(listener).delivery
            switch fault {
            case .cutResponse(let bytes): #expect(delivery.end == .cut(bytes: bytes))
            case .lostResponse: #expect(delivery.end == .lost)
            default: #expect(delivery.delayMilliseconds == 9)
            }
            #expect(try await listener.waiting().isEmpty)
        }
    }

    @Test("A notification that is lost on its way is not acknowledged; the next one is")
    func loss() async throws {
        let listener = try await cloud.listen(as: ada)
        plan(.lostNotification, call: 1)
        async let response = listener.next()
        while cloud.service.waitingRequests != 1 { await Task.yield() }
        try await change("a")
        while try await !listener.waiting().isEmpty { await Task.yield() }
        #expect(cloud.service.waitingRequests == 1)
        try await change("b")
        #expect(try await response.body.ck.qry.rid == "b")
        try await change("c")
        #expect(try await listener.next().body.ck.qry.rid == "c")
    }

    @Test("A wait without a notification leaves the fault to the next notification, once")
    func idleWait() async throws {
        let listener = try await cloud.listen(as: ada)
        cloud.service.setFaults(FaultPlan(rules: [FaultRule(.lostNotification, times: 1)]))
        let idle = Task { try await listener.next() }
        while cloud.service.waitingRequests != 1 { await Task.yield() }
        idle.cancel()
        _ = try await idle.value
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 0, taken: 0)])
        try await change("a")
        try await change("b")
        #expect(try await listener.next().body.ck.qry.rid == "b")
        #expect(cloud.service.faultCounts == [FaultCount(fitting: 1, taken: 1)])
        try await change("c")
        #expect(try await listener.next().body.ck.qry.rid == "c")
    }

    @Test("A rule for a user fits that user's tokens only")
    func users() async throws {
        let bob = try await cloud.addUser("Bob")
        let (first, second) = try await (cloud.listen(as: ada), cloud.listen(as: bob))
        try await cloud.subscribe("q", "query", as: bob, Self.query)
        try await change("a")
        _ = try await cloud.modify("_defaultZone", as: bob, [FixtureCloud.note("create", "b")])
        plan(.error(.throttled), user: "Bob")
        #expect(try await first.next().status == 200)
        #expect(try await second.next().status == 429)
    }

    @Test("Services of one process over one storage wake each other's requests")
    func services() async throws {
        let storage = try SQLiteStorage(path: nil)
        let cloud = try await FixtureCloud(storage: storage)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        try await cloud.subscribe("d", as: ada)
        let listener = try await cloud.listen(as: ada)
        let other = CloudService(
            storage: storage,
            assets: cloud.assets,
            clock: cloud.clock,
            randomness: FixtureRandomness(seed: 3)
        )
        let query = listener.url.split(separator: "?").last.map(String.init)
        async let response = other.respond(
            to: ServiceRequest(method: "GET", path: "/aps", query: query, baseURL: "")
        )
        while cloud.service.waitingRequests != 1 { await Task.yield() }
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        #expect(try await JSON(response.body).ck.met.sid == "d")
        // A separate storage is unaffected.
        let apart = try await FixtureCloud()
        #expect(apart.service.waitingRequests == 0)
    }

    @Test("A file that others write too wakes those who wait, when it is looked at")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CourierFaultTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("cloud.sqlite").path
        let cloud = try await FixtureCloud(storage: SQLiteStorage(path: path))
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        try await cloud.subscribe("d", as: ada)
        let listener = try await cloud.listen(as: ada)
        // The storage as another process opens it.
        let storage = try SQLiteStorage(path: path)
        let other = CloudService(
            storage: storage,
            assets: cloud.assets,
            clock: cloud.clock,
            randomness: FixtureRandomness(seed: 3)
        )
        let query = listener.url.split(separator: "?").last.map(String.init)
        async let response = other.respond(
            to: ServiceRequest(method: "GET", path: "/aps", query: query, baseURL: "")
        )
        while other.waitingRequests != 1 { await Task.yield() }
        let before = try await storage.externalChangeCount()
        #expect(try await storage.externalChangeCount() == before)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        #expect(try await storage.externalChangeCount() != before)
        #expect(other.waitingRequests == 1)
        try await other.wakeAfterExternalChanges()
        #expect(try await JSON(response.body).ck.met.sid == "d")
        // A write through it does not count as another's change.
        let quiet = try await storage.externalChangeCount()
        try await storage.write { try $0.setSetting("x", Data([1])) }
        #expect(try await storage.externalChangeCount() == quiet)
    }
}
