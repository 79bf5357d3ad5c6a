#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import CloudKitWire
import Dispatch
import Foundation
import PostgresFixtures
import ServerFixtures
import Testing

@Suite(
    "What writes on PostgreSQL keep others from writing",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice),
    .timeLimit(.minutes(5))
)
struct ScopeTests {
    /// A cloud in which Ada shares the note "root" with Bob; all requests of the tests have their types
    /// and fields already.
    private struct World {
        let storage: PostgresStorage
        let cloud: FixtureCloud
        let ada: FixtureCloud.User
        let bob: FixtureCloud.User
        var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

        init(configuration: ServiceConfiguration = ServiceConfiguration()) async throws {
            storage = try await PostgresServer.open()
            cloud = try await FixtureCloud(configuration: configuration, storage: storage)
            ada = try await cloud.addUser()
            bob = try await cloud.addUser("Bob")
            for zone in ["Notes", "Copies"] { try await cloud.addZone(zone, as: ada) }
        }

        /// Shares the root, which has a file.
        func share() async throws {
            let photo = try await cloud.upload(Data([1]), for: "root", as: ada)
            let participant: JSON = [
                "type": "USER", "permission": "READ_WRITE",
                "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
            ]
            let share: JSON = [
                "operationType": "create",
                "record": [
                    "recordName": "share", "recordType": "cloudkit.share",
                    "forRecord": ["recordName": "root"], "participants": [participant],
                ],
            ]
            let made = try await cloud.modify(
                as: ada,
                [share, FixtureCloud.note("create", "root", ["photo": photo])]
            )
            let guid = made.records[0].shortGUID
            let accepted = try await cloud.call(
                "records/accept",
                .public,
                as: bob,
                ["shortGUIDs": [["value": guid]]]
            )
            try #require(accepted.body.results[0].participantStatus == "ACCEPTED")
            let open = FixtureCloud.note("create", "open")
            _ = try await cloud.modify("_defaultZone", as: ada, database: .public, [open])
        }

        /// Returns how many attempts to write kept all others from writing.
        func exclusiveWrites(_ body: () async throws -> Void) async throws -> Int {
            let before = storage.counts.exclusiveWrites
            try await body()
            return storage.counts.exclusiveWrites - before
        }

        /// Expects that a request is successful, and keeps nobody from writing.
        func expectNone(
            _ kind: String,
            _ request: () async throws -> FixtureCloud.Response
        ) async throws {
            let count = try await exclusiveWrites {
                let response = try await request()
                #expect(response.status == 200, "\(kind): \(response)")
                let body = response.body
                for list in [body.records, body.zones, body.subscriptions, body.assets] {
                    for item in list.elements {
                        #expect(item.serverErrorCode == .null, "\(kind): \(item)")
                    }
                }
            }
            #expect(count == 0, "\(kind)")
        }
    }

    @Test("Requests that write records keep nobody but writers of the same database from writing")
    func records() async throws {
        let world = try await World()
        let (cloud, ada, bob) = (world.cloud, world.ada, world.bob)
        try await world.share()
        try await world.expectNone("save") {
            try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        }
        try await world.expectNone("save in the public database") {
            try await cloud.modify(
                "_defaultZone",
                as: bob,
                database: .public,
                [FixtureCloud.note("create", "b")]
            )
        }
        for name in ["c", "d"] {
            try await world.expectNone("save as a participant") {
                let child: JSON = [
                    "recordName": .string(name), "recordType": "Note",
                    "parent": ["recordName": "root"],
                ]
                return try await cloud.call(
                    "records/modify",
                    .shared,
                    as: bob,
                    [
                        "zoneID": world.zoneID,
                        "operations": [["operationType": "create", "record": child]],
                    ]
                )
            }
        }
        try await world.expectNone("leave a share") {
            try await cloud.call(
                "records/modify",
                .shared,
                as: bob,
                [
                    "zoneID": world.zoneID,
                    "operations": [FixtureCloud.note("forceDelete", "share")],
                ]
            )
        }
        for kind in ["create", "delete"] {
            try await world.expectNone("\(kind) a zone") {
                let operation: JSON = [
                    "operationType": .string(kind), "zone": ["zoneID": FixtureCloud.zone("More")],
                ]
                return try await cloud.call(
                    "zones/modify",
                    as: ada,
                    ["operations": [operation]]
                )
            }
        }
        // A zone of somebody who does not exist is no reason to stop everybody.
        let count = try await world.exclusiveWrites {
            let refused = try await cloud.call(
                "records/modify",
                .shared,
                as: bob,
                [
                    "zoneID": ["zoneName": "Notes", "ownerRecordName": "_nobody"],
                    "operations": [FixtureCloud.note("create", "e")],
                ]
            )
            #expect(refused.code == "ZONE_NOT_FOUND")
        }
        #expect(count == 0)
    }

    @Test("Requests about files, archives and copies keep nobody else from writing")
    func files() async throws {
        let world = try await World()
        let (cloud, ada) = (world.cloud, world.ada)
        try await world.share()
        try await world.expectNone("upload") {
            _ = try await cloud.upload(Data([2]), for: "root", as: ada)
            return try await cloud.lookUp(["root"], as: ada)
        }
        try await world.expectNone("rereference") {
            try await cloud.call(
                "assets/rereference",
                as: ada,
                [
                    "zoneID": FixtureCloud.zone("Notes"),
                    "assets": [["recordName": "root", "fieldName": "photo"]],
                ]
            )
        }
        try await world.expectNone("archive") {
            try await cloud.call(
                "records/zip/prepare",
                as: ada,
                [
                    "zoneID": FixtureCloud.zone("Notes"), "pluginFields": [:],
                    "excludeRecords": [],
                ]
            )
        }
        try await world.expectNone("copy") {
            let started = try await cloud.call(
                "records/copy/start",
                as: ada,
                [
                    "sourceZoneID": FixtureCloud.zone("Notes"),
                    "targetZoneID": FixtureCloud.zone("Copies"), "excludeRecords": [],
                ]
            )
            let status = try await cloud.call(
                "records/copy/status",
                as: ada,
                ["jobID": started.body.jobID]
            )
            #expect(status.body.status == "COMPLETED", "\(status)")
            return status
        }
    }

    @Test("Requests about subscriptions and notifications keep nobody else from writing")
    func notifications() async throws {
        let world = try await World()
        let (cloud, ada, bob) = (world.cloud, world.ada, world.bob)
        try await world.share()
        for database in [DatabaseScope.private, .shared] {
            try await world.expectNone("subscribe") {
                let made = try await cloud.subscribe("d", "database", database, as: bob)
                #expect(made.serverErrorCode == .null, "\(made)")
                return try await cloud.call("subscriptions/list", database, as: bob)
            }
        }
        try await world.expectNone("subscribe to the public database") {
            let query: [String: JSON] = ["query": ["recordType": "Note"], "firesOn": ["create"]]
            let made = try await cloud.subscribe("q", "query", .public, as: ada, query)
            #expect(made.serverErrorCode == .null, "\(made)")
            return try await cloud.call("subscriptions/list", .public, as: ada)
        }
        try await world.expectNone("tokens/create") {
            try await cloud.tokens("create", as: bob, client: "phone")
        }
        let token = String(repeating: "t", count: 40)
        for user in [bob, ada] {
            // The second takes the token over.
            try await world.expectNone("tokens/register") {
                try await cloud.tokens("register", as: user, token: token)
            }
        }
        let listener = try await cloud.listen(as: ada)
        try await world.expectNone("notify") {
            try await cloud.modify(
                "_defaultZone",
                as: bob,
                database: .public,
                [FixtureCloud.note("create", "b"), FixtureCloud.note("create", "c")]
            )
        }
        try await world.expectNone("wait") { try await listener.next() }
        // The token is due to be extended.
        cloud.clock.advance(seconds: 2 * 3600)
        try await world.expectNone("wait after a while") { try await listener.next() }
    }

    @Test("Sessions begin, go on and end without keeping anybody from writing")
    func sessions() async throws {
        let world = try await World(configuration: ServiceConfiguration(rotatesWebTokens: true))
        let cloud = world.cloud
        try await world.expectNone("sign in") {
            try await cloud.call("zones/list", as: cloud.again(world.ada))
        }
        // Less than seven eighths of the session are left.
        cloud.clock.advance(seconds: ServiceConfiguration().webTokenSeconds / 4)
        try await world.expectNone("extend") { try await cloud.call("zones/list", as: world.bob) }
        let count = try await world.exclusiveWrites {
            let ada = try await cloud.again(world.ada)
            var statuses: [Int] = []
            for _ in 0..<4 {
                statuses.append(try await cloud.call("zones/list", as: ada).status)
            }
            // The third time shows that somebody else has the token too.
            #expect(statuses == [200, 200, 401, 421])
        }
        #expect(count == 0)
    }

    @Test("What operators do keeps everybody from writing, and so does what a schema has to learn")
    func administration() async throws {
        let world = try await World()
        let (cloud, ada) = (world.cloud, world.ada)
        let container = FixtureCloud.container
        let actions: [(String, () async throws -> Void)] = [
            ("add a user", { _ = try await cloud.addUser("Carol") }),
            ("end sessions", { _ = try await cloud.service.endSessions(of: world.bob.user) }),
            ("take a snapshot", { try await cloud.service.takeSnapshot("s", of: container) }),
            ("restore it", { try await cloud.service.restoreSnapshot("s", of: container) }),
            ("reset", { try await cloud.service.resetContainer(container) }),
            ("clean", { try await cloud.service.clean() }),
            (
                "learn a type",
                {
                    let fields: JSON = ["fresh": ["value": 1]]
                    _ = try await cloud.modify(
                        "_defaultZone",
                        as: ada,
                        [FixtureCloud.note("create", "z", fields)]
                    )
                }
            ),
        ]
        for (name, action) in actions {
            #expect(try await world.exclusiveWrites(action) > 0, "\(name)")
        }
    }

    // MARK: Guarantees

    @Test("A write that relies on a document runs again if another node changes it meanwhile")
    func reliance() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let nodes = try await [PostgresServer.open(address), PostgresServer.open(address)]
        try await nodes[0].write { writer in
            try writer.putDocument("token", StoredDocument(name: "t", body: Data([1])))
        }
        // As when a device gets another user while one of the former user's notifications is on its way.
        let (isRead, opening) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let delivery = Task {
            try await nodes[0].write(.user(RowID(rawValue: 1)), needing: StorageNeeds.none) {
                writer in
                let user = try writer.document("token", "t")
                if user == Data([1]) {
                    isRead.signal()
                    _ = opening.wait(timeout: .now() + 30)
                    try writer.addPush(
                        StoredPush(
                            id: RowID(rawValue: 0),
                            queue: Data([9]),
                            slot: nil,
                            body: Data([1])
                        )
                    )
                }
                try writer.requireUnchanged("token", "t")
                return user
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                isRead.wait()
                continuation.resume()
            }
        }
        try await nodes[1].write(.user(RowID(rawValue: 2)), needing: StorageNeeds.none) { writer in
            _ = try writer.document("token", "t")
            try writer.putDocument("token", StoredDocument(name: "t", body: Data([2])))
            try writer.removePushes(Data([9]), keepingNewest: 0)
        }
        opening.signal()
        #expect(try await delivery.value == Data([2]))
        #expect(try await nodes[1].read { try $0.pushes(Data([9]), limit: 9) }.isEmpty)
    }

    @Test(
        "A credential is written beside others only by who announced it; the rest is written alone"
    )
    func credentials() async throws {
        let storage = try await PostgresServer.open()
        let environment = try await storage.write { writer in
            try writer.addEnvironment(container: "c", .development).id
        }
        let hashes = [Data([1, 0, 0, 0]), Data([2, 0, 0, 0])]
        for (hash, count) in zip(hashes, [0, 1]) {
            let before = storage.counts.exclusiveWrites
            try await storage.write(.credential(hashes[0]), needing: StorageNeeds.none) { writer in
                try writer.putCredential(
                    StoredCredential(kind: .apiToken, hash: hash, environment: environment)
                )
            }
            #expect(storage.counts.exclusiveWrites - before == count)
        }
        #expect(try await storage.read { try $0.credentials(environment) }.map(\.hash) == hashes)
    }

    @Test("Writes of one queue take turns on all nodes, and each item is taken once")
    func queues() async throws {
        let address = try PostgresServer.shared.get().newDatabase()
        let nodes = try await [PostgresServer.open(address), PostgresServer.open(address)]
        try await nodes[0].write { writer in
            for body in 0..<40 as Range<UInt8> {
                try writer.addPush(
                    StoredPush(
                        id: RowID(rawValue: 0),
                        queue: Data([1]),
                        slot: nil,
                        body: Data([body])
                    )
                )
            }
        }
        let taken = try await withThrowingTaskGroup(of: UInt8?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await nodes[number % 2].write(
                        .queue(Data([1])),
                        needing: StorageNeeds.none
                    ) { writer in
                        guard let push = try writer.pushes(Data([1]), limit: 1).first else {
                            return nil
                        }
                        try writer.removePush(push.id)
                        return push.body.first
                    }
                }
            }
            return try await group.reduce(into: [UInt8]()) { $0.append($1 ?? 255) }
        }
        #expect(taken.sorted() == Array(0..<40))
    }
}
#endif
