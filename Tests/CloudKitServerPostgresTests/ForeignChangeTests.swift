#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "News of other nodes on one PostgreSQL database",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice),
    .timeLimit(.minutes(5))
)
struct ForeignChangeTests {
    /// A storage that is written to, and the news of it in another one on the same database.
    private struct Pair {
        let address: String
        let writer: PostgresStorage
        let listener: PostgresStorage
        private let changes: AsyncStream<ForeignChanges>

        init() async throws {
            address = try PostgresServer.shared.get().newDatabase()
            writer = try await PostgresServer.open(address)
            listener = try await PostgresServer.open(address)
            changes = try #require(listener.foreignChanges())
            // It listens from then on.
            await nextUnknown()
        }

        /// Returns the next change that is known.
        func next() async -> ForeignChanges? {
            for await change in changes where change != .unknown { return change }
            return nil
        }

        func nextUnknown() async {
            for await change in changes where change == .unknown { return }
        }
    }

    private static func push(_ queue: UInt8) -> StoredPush {
        StoredPush(id: RowID(rawValue: 0), queue: Data([queue]), slot: nil, body: Data([queue]))
    }

    @Test("Nodes learn which queues got items and that callers changed, once it is committed")
    func news() async throws {
        let pair = try await Pair()
        // Nobody is notified of what concerns nobody, of what was undone, or of what one has done oneself.
        try await pair.writer.write { try $0.setSetting("a", Data([1])) }
        await #expect(throws: CancellationError.self) {
            try await pair.writer.write { writer in
                try writer.addPush(Self.push(1))
                throw CancellationError()
            }
        }
        try await pair.listener.write { try $0.addPush(Self.push(2)) }
        try await pair.writer.write { writer in
            try writer.addPush(Self.push(3))
            try writer.addPush(Self.push(3))
            try writer.addPush(Self.push(4))
        }
        #expect(await pair.next() == ForeignChanges(queues: [Data([3]), Data([4])]))
        try await pair.writer.write { $0.announceChangedCallers() }
        #expect(await pair.next() == ForeignChanges(concernsCallers: true))
        // Another service of the same process has callers of its own.
        try await pair.listener.write { $0.announceChangedCallers() }
        #expect(await pair.next() == ForeignChanges(concernsCallers: true))
        pair.listener.close()
        #expect(await pair.next() == nil)
    }

    @Test("Of more queues than a notification can name, nodes learn that there are some")
    func manyQueues() async throws {
        let pair = try await Pair()
        try await pair.writer.write { writer in
            for number in 0..<400 as Range<UInt16> {
                let queue = Data(repeating: UInt8(number & 255), count: 31) + [UInt8(number >> 8)]
                try writer.addPush(
                    StoredPush(id: RowID(rawValue: 0), queue: queue, slot: nil, body: Data())
                )
            }
        }
        #expect(await pair.next() == ForeignChanges(queues: nil))
        let filled = try await pair.listener.read { reader in
            try reader.filledQueues([Data([1]), Data(repeating: 0, count: 32)])
        }
        #expect(filled == [Data(repeating: 0, count: 32)])
    }

    @Test("A connection that was ended is replaced, and anything may have changed meanwhile")
    func reconnection() async throws {
        let pair = try await Pair()
        for queue in 1...3 as ClosedRange<UInt8> {
            try PostgresServer.endListeners(pair.address)
            try await pair.writer.write { try $0.addPush(Self.push(queue)) }
            // Without a connection, and with the next one.
            await pair.nextUnknown()
            await pair.nextUnknown()
        }
        try await pair.writer.write { $0.announceChangedCallers() }
        #expect(await pair.next()?.concernsCallers == true)
    }

    // MARK: Services

    /// Two nodes of a service, with a user and a zone.
    private struct World {
        let address: String
        let storages: [PostgresStorage]
        let cloud: FixtureCloud
        let other: FixtureCloud
        let ada: FixtureCloud.User

        init() async throws {
            address = try PostgresServer.shared.get().newDatabase()
            storages = try await [PostgresServer.open(address), PostgresServer.open(address)]
            cloud = try await FixtureCloud(storage: storages[0])
            other = FixtureCloud(nodeOf: cloud, storage: storages[1])
            ada = try await cloud.addUser()
            try await cloud.addZone("Notes", as: ada)
        }

        /// Waits until the other node refuses the user.
        ///
        /// The clock stands still, so that a caller that it remembers never expires.
        func waitForRefusal(of user: FixtureCloud.User) async throws -> FixtureCloud.Response {
            while true {
                let response = try await other.call("zones/list", as: user)
                if response.status != 200 { return response }
                await Task.yield()
            }
        }

        /// Begins to wait for a notification on the other node.
        func wait(
            with listener: FixtureCloud.Listener
        ) async throws -> Task<FixtureCloud.Response, any Error> {
            let waiting = Task {
                let query = listener.url.split(separator: "?", maxSplits: 1)[1]
                return try await other.send(
                    ConformanceRequest(method: "GET", path: "/aps", query: String(query))
                )
            }
            while other.service.waitingRequests != 1 { await Task.yield() }
            return waiting
        }
    }

    @Test("A change on one node wakes who waits on another")
    func wakes() async throws {
        let world = try await World()
        try await world.cloud.subscribe("d", as: world.ada)
        let listener = try await world.cloud.listen(as: world.ada)
        for name in ["a", "b", "c"] {
            let waiting = try await world.wait(with: listener)
            _ = try await world.cloud.modify(as: world.ada, [FixtureCloud.note("create", name)])
            #expect(try await waiting.value.body.ck.met.sid == "d")
        }
    }

    @Test("A change that was made while a node could not hear it wakes who waits there")
    func wakesAfterLoss() async throws {
        let world = try await World()
        try await world.cloud.subscribe("d", as: world.ada)
        let listener = try await world.cloud.listen(as: world.ada)
        for name in ["a", "b", "c"] {
            let waiting = try await world.wait(with: listener)
            try PostgresServer.endListeners(world.address)
            _ = try await world.cloud.modify(as: world.ada, [FixtureCloud.note("create", name)])
            #expect(try await waiting.value.body.ck.met.sid == "d")
        }
    }

    @Test("A notification is delivered once, whichever nodes its receivers wait on")
    func once() async throws {
        let world = try await World()
        try await world.cloud.subscribe(
            "q",
            "query",
            as: world.ada,
            ["query": ["recordType": "Note"], "firesOn": ["create"]]
        )
        let listener = try await world.cloud.listen(as: world.ada)
        let names = (0..<24).map { "r\($0)" }
        _ = try await world.cloud.modify(
            as: world.ada,
            names.map { FixtureCloud.note("create", $0) }
        )
        try #require(try await listener.waiting().count == names.count)
        let query = String(listener.url.split(separator: "?", maxSplits: 1)[1])
        let request = ConformanceRequest(method: "GET", path: "/aps", query: query)
        let received = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<names.count {
                let node = number % 2 == 0 ? world.cloud : world.other
                group.addTask {
                    // A queue has eight waiting requests at most; another one ends the oldest.
                    while true {
                        let body = try await node.send(request).body
                        if body != .null { return body.ck.qry.rid.text }
                    }
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1 ?? "") }
        }
        #expect(received.sorted() == names.sorted())
    }

    @Test("A session that was ended on one node is refused on another")
    func revokedSession() async throws {
        let world = try await World()
        #expect(try await world.other.call("zones/list", as: world.ada).status == 200)
        _ = try await world.cloud.service.endSessions(of: world.ada.user)
        #expect(try await world.waitForRefusal(of: world.ada).code == "AUTHENTICATION_REQUIRED")
    }

    @Test("An API token that was revoked on one node is refused on another")
    func revokedToken() async throws {
        let world = try await World()
        #expect(try await world.other.call("zones/list", as: world.ada).status == 200)
        let revoked = try await world.cloud.service.revoke(
            Set(
                world.cloud.service
                    .credentials(
                        meantBy: world.cloud.apiToken,
                        container: FixtureCloud.container
                    ).map(\.id)
            ),
            container: FixtureCloud.container
        )
        // Its sessions go with it.
        #expect(revoked.count == 2)
        #expect(try await world.waitForRefusal(of: world.ada).code == "AUTHENTICATION_FAILED")
    }

    @Test("A node that hears nothing refuses a revoked session after five seconds")
    func bound() async throws {
        let world = try await World()
        // It never hears anything.
        let deaf = FixtureCloud(nodeOf: world.cloud, storage: Deaf(base: world.storages[1]))
        // It can, but its connection is ended whenever it has one.
        let ending = Task {
            while !Task.isCancelled {
                try PostgresServer.endListeners(world.address)
                await Task.yield()
            }
        }
        for node in [deaf, world.other] {
            #expect(try await node.call("zones/list", as: world.ada).status == 200)
        }
        _ = try await world.cloud.service.endSessions(of: world.ada.user)
        #expect(try await deaf.call("zones/list", as: world.ada).status == 200)
        world.cloud.clock.advance(seconds: 5)
        for node in [deaf, world.other] {
            let refused = try await node.call("zones/list", as: world.ada)
            #expect(refused.code == "AUTHENTICATION_REQUIRED")
        }
        ending.cancel()
        _ = await ending.result
    }

    /// A storage without news of other nodes.
    private struct Deaf: WrappingStorage {
        let base: PostgresStorage
    }

    @Test("A deleted user writes nothing on another node from then on, and soon reads nothing")
    func deletedUser() async throws {
        let world = try await World()
        #expect(try await world.other.call("zones/list", as: world.ada).status == 200)
        try await world.cloud.service.deleteUser(world.ada.user)
        let refused = try await world.other.modify(
            as: world.ada,
            [FixtureCloud.note("create", "a")]
        )
        #expect(refused.code == "AUTHENTICATION_REQUIRED")
        _ = try await world.waitForRefusal(of: world.ada)
    }

    @Test("A schema that was changed on one node is that of all")
    func schema() async throws {
        let world = try await World()
        let query: JSON = [
            "zoneID": FixtureCloud.zone("Notes"),
            "query": [
                "recordType": "Note",
                "sortBy": [["fieldName": "n", "ascending": true]],
            ],
        ]
        func find() async throws -> FixtureCloud.Response {
            try await world.other.call("records/query", as: world.ada, query)
        }
        _ = try await world.cloud.modify(as: world.ada, [FixtureCloud.note("create", "a")])
        #expect(try await find().status == 400)
        // The field is new.
        _ = try await world.cloud.modify(
            as: world.ada,
            [FixtureCloud.note("create", "b", ["n": ["value": 1]])]
        )
        #expect(try await find().records.count == 2)
        _ = try await world.cloud.service.importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (n INT64, m INT64);",
            container: FixtureCloud.container,
            environment: .development
        )
        #expect(try await find().status == 400)
    }

    @Test("A role that was taken away on one node is soon none on another")
    func roles() async throws {
        let world = try await World()
        _ = try await world.cloud.service.importSchema(
            """
            DEFINE SCHEMA
            CREATE ROLE editor;
            RECORD TYPE Article (title STRING, GRANT READ, CREATE, WRITE TO editor);
            """,
            container: FixtureCloud.container,
            environment: .development
        )
        func create(_ name: String) async throws -> String? {
            try await world.other.modify(
                "_defaultZone",
                as: world.ada,
                database: .public,
                [FixtureCloud.note("create", name, type: "Article")]
            ).records[0].serverErrorCode.text
        }
        try await world.cloud.service.setRoles(
            ["editor"],
            of: world.ada.user,
            environment: .development
        )
        while try await create("a") == "ACCESS_DENIED" { await Task.yield() }
        try await world.cloud.service.setRoles([], of: world.ada.user, environment: .development)
        var count = 0
        while try await create("b\(count)") == nil {
            count += 1
            await Task.yield()
        }
        #expect(try await create("c") == "ACCESS_DENIED")
    }

    @Test("After a reset or a restore on one node, all have its contents and refuse older tokens")
    func restoredContainer() async throws {
        let world = try await World()
        func changes(_ token: JSON = .null) async throws -> JSON {
            try await world.other.changes(as: world.ada, after: token)
        }
        _ = try await world.cloud.modify(as: world.ada, [FixtureCloud.note("create", "a")])
        try await world.cloud.service.takeSnapshot("s", of: FixtureCloud.container)
        _ = try await world.other.modify(as: world.ada, [FixtureCloud.note("create", "b")])
        let first = try await changes()
        #expect(first.records.elements.count == 2)
        try await world.cloud.service.restoreSnapshot("s", of: FixtureCloud.container)
        #expect(try await changes(first.syncToken).serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        let second = try await changes()
        #expect(second.records.elements.map(\.recordName) == ["a"])
        // Nothing that the node remembers is in the way of writing to the zone that came back.
        let saved = try await world.other.modify(
            as: world.ada,
            [FixtureCloud.note("create", "c")]
        )
        #expect(saved.records[0].serverErrorCode == .null)
        try await world.cloud.service.resetContainer(FixtureCloud.container)
        #expect(try await changes(second.syncToken).serverErrorCode == "ZONE_NOT_FOUND")
        try await world.other.addZone("Notes", as: world.ada)
        #expect(try await changes().records.elements.isEmpty)
        #expect(try await changes(second.syncToken).serverErrorCode == "CHANGE_TOKEN_EXPIRED")
    }
}

extension PostgresServer {
    /// Ends the connections on which the nodes of a database listen.
    static func endListeners(_ address: String) throws {
        try shared.get().run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'cloudkit-listener'
            """,
            in: address
        )
    }
}
#endif
