#if PostgreSQL
import CloudKitServerCore
import CloudKitWire
import CloudKitServerPostgres
import ServerFixtures
import PostgresFixtures
import Testing

@Suite(
    "Round trips of requests on PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct RoundTripTests {
    /// A cloud with a user, a zone and some records, all of which requests have asked for before.
    private struct World {
        let storage: PostgresStorage
        let cloud: FixtureCloud
        let user: FixtureCloud.User

        init() async throws {
            storage = try await PostgresServer.open()
            cloud = try await FixtureCloud(storage: storage)
            user = try await cloud.addUser()
            try await cloud.addZone("Notes", as: user)
            let made = try await cloud.modify(as: user, operations("create", "r", 0..<20))
            #expect(made.status == 200)
            // The service remembers callers, and the schema of their environment, for some seconds.
            cloud.clock.advance(seconds: 60)
            _ = try await cloud.lookUp(["r0"], as: user)
        }

        /// Returns the number of round trips for which a request waited.
        func trips(_ request: () async throws -> FixtureCloud.Response) async throws -> Int {
            let before = storage.counts
            let response = try await request()
            #expect(response.status == 200, "\(response.body)")
            for record in response.records { #expect(record.serverErrorCode == .null, "\(record)") }
            return storage.counts.roundTrips - before.roundTrips
        }

        func operations(
            _ kind: String,
            _ prefix: String,
            _ range: Range<Int>,
            tag: JSON = .null,
            _ fields: (Int) -> JSON = { ["n": ["value": .int(Int64($0))]] }
        ) -> [JSON] {
            range.map { FixtureCloud.note(kind, "\(prefix)\($0)", fields($0), tag: tag) }
        }
    }

    @Test("A look-up has one")
    func lookUp() async throws {
        let world = try await World()
        let one = try await world.trips { try await world.cloud.lookUp(["r1"], as: world.user) }
        #expect(one == 1)
        let many = try await world.trips {
            try await world.cloud.lookUp((0..<20).map { "r\($0)" }, as: world.user)
        }
        #expect(many == 1)
    }

    @Test("A page of changes has one, from the beginning and after a token")
    func changes() async throws {
        let world = try await World()
        var token: JSON = .null
        for _ in 0..<2 {
            let trips = try await world.trips {
                let response = try await world.cloud.call(
                    "changes/zone",
                    as: world.user,
                    [
                        "zones": [
                            [
                                "zoneID": FixtureCloud.zone("Notes"), "syncToken": token,
                                "resultsLimit": 7,
                            ]
                        ]
                    ]
                )
                #expect(response.body.zones[0].records.elements.count == 7)
                token = response.body.zones[0].syncToken
                return response
            }
            #expect(trips == 1)
        }
    }

    @Test("A page of a query has two at most")
    func query() async throws {
        let world = try await World()
        let filter: JSON = [
            "fieldName": "n", "comparator": "GREATER_THAN", "fieldValue": ["value": 4],
        ]
        let sort: JSON = ["fieldName": "n", "ascending": false]
        for query in [
            ["recordType": "Note"], ["recordType": "Note", "filterBy": [filter]],
            ["recordType": "Note", "filterBy": [filter], "sortBy": [sort]],
            ["recordType": "Note", "sortBy": [sort]],
        ] as [JSON] {
            var marker: JSON = .null
            for _ in 0..<2 {
                let trips = try await world.trips {
                    let response = try await world.cloud.call(
                        "records/query",
                        as: world.user,
                        [
                            "zoneID": FixtureCloud.zone("Notes"), "query": query,
                            "resultsLimit": 5, "continuationMarker": marker,
                        ]
                    )
                    #expect(response.records.count == 5)
                    marker = response.body.continuationMarker
                    return response
                }
                #expect(trips <= 2, "\(query)")
            }
        }
    }

    @Test("A modification of 200 records has six at most, whatever it does")
    func modify() async throws {
        let world = try await World()
        func trips(_ operations: [JSON]) async throws -> Int {
            try await world.trips { try await world.cloud.modify(as: world.user, operations) }
        }
        #expect(try await trips(world.operations("create", "a", 0..<1)) <= 2)
        #expect(try await trips(world.operations("create", "b", 0..<200)) <= 2)
        #expect(try await trips(world.operations("forceUpdate", "b", 0..<200) { _ in [:] }) <= 2)
        let links = world.operations("create", "c", 0..<200) { number in
            [
                "link": [
                    "value": ["recordName": .string("b\(number % 3)"), "action": "DELETE_SELF"]
                ]
            ]
        }
        // The field is new in the schema: the write turns out to change more than its database.
        #expect(try await trips(Array(links[..<1])) <= 12)
        #expect(try await trips(Array(links[1...])) <= 4)
        // They take those with them that refer to them.
        #expect(try await trips(world.operations("forceDelete", "b", 0..<3)) <= 6)
        #expect(try await trips(world.operations("forceDelete", "b", 3..<200)) <= 6)
    }

    @Test("A notification that waits is fetched in four")
    func notification() async throws {
        let world = try await World()
        try await world.cloud.subscribe("d", as: world.user)
        let listener = try await world.cloud.listen(as: world.user)
        _ = try await world.cloud.modify(as: world.user, world.operations("create", "a", 0..<1))
        // One for its token, one that finds it, and two that take it.
        #expect(try await world.trips { try await listener.next() } == 4)
    }

    @Test("Modifications in a shared hierarchy have six at most")
    func parents() async throws {
        let world = try await World()
        let children = (0..<200).map { number -> JSON in
            [
                "operationType": "create",
                "record": [
                    "recordName": .string("child\(number)"), "recordType": "Note",
                    "parent": ["recordName": "r0"], "fields": ["n": ["value": 1]],
                ],
            ]
        }
        let trips = try await world.trips {
            try await world.cloud.modify(as: world.user, children)
        }
        #expect(trips <= 6)
    }
}
#endif
