import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Audience of push notifications", .overHTTP)
struct PushAudienceTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: ada)
    }

    private var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    private func note(_ kind: String, _ name: String, parent: String? = nil) -> JSON {
        var record: [String: JSON] = ["recordName": .string(name), "recordType": "Note"]
        if let parent { record["parent"] = ["recordName": .string(parent)] }
        return ["operationType": .string(kind), "record": .object(record)]
    }

    /// Shares the hierarchy of the note "root" with Bob, who accepts by default.
    private func share(accepts: Bool = true) async throws {
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
        let response = try await cloud.modify(
            as: ada,
            [share, note("create", "root"), note("create", "secret")]
        )
        guard accepts else { return }
        let guid = response.records[0].shortGUID
        try await accept(guid)
    }

    private func accept(_ guid: JSON) async throws {
        let response = try await cloud.call(
            "records/accept",
            .public,
            as: bob,
            ["shortGUIDs": [["value": guid]]]
        )
        #expect(response.body.results[0].participantStatus == "ACCEPTED", "\(response)")
    }

    @Test("A participant is notified of what the share shows, and of nothing else")
    func participant() async throws {
        try await share()
        let listener = try await cloud.listen(as: bob)
        try await cloud.subscribe("d", "database", .shared, as: bob)
        _ = try await cloud.modify(as: ada, [note("forceUpdate", "secret")])
        #expect(try await listener.waiting().isEmpty)
        _ = try await cloud.modify(as: ada, [note("create", "child", parent: "root")])
        let push = try await listener.next().body
        #expect(push.ck.met.sid == "d")
        #expect(push.ck.met.dbs == 3)
        #expect(push.ck.ckuserid == .string(bob.name))
        _ = try await cloud.modify(as: ada, [note("forceDelete", "child")])
        #expect(try await listener.waiting().count == 1)
    }

    @Test("The owner is notified of what a participant changes")
    func owner() async throws {
        try await share()
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("d", as: ada)
        let response = try await cloud.call(
            "records/modify",
            .shared,
            as: bob,
            ["zoneID": zoneID, "operations": [note("create", "child", parent: "root")]]
        )
        #expect(response.records[0].serverErrorCode == nil)
        #expect(try await listener.next().body.ck.met.dbs == 2)
    }

    @Test("The owner and the participant's other devices are notified of an acceptance")
    func acceptance() async throws {
        try await share(accepts: false)
        let found = try await cloud.lookUp(["share"], as: ada)
        let (owner, guest) = (try await cloud.listen(as: ada), try await cloud.listen(as: bob))
        try await cloud.subscribe("d", as: ada)
        try await cloud.subscribe("d", "database", .shared, as: bob)
        try await accept(found.records[0].shortGUID)
        #expect(try await owner.waiting().count == 1)
        #expect(try await guest.waiting().count == 1)
        try await accept(found.records[0].shortGUID)
        #expect(try await guest.waiting().count == 1)
    }

    @Test("A user who loses access is notified that the database changed, and then no more")
    func removal() async throws {
        try await share()
        let listener = try await cloud.listen(as: bob)
        try await cloud.subscribe("d", "database", .shared, as: bob)
        _ = try await cloud.modify(as: ada, [note("forceDelete", "share")])
        #expect(try await listener.next().body.ck.met.sid == "d")
        _ = try await cloud.modify(as: ada, [note("forceUpdate", "root")])
        #expect(try await listener.waiting().isEmpty)
    }

    @Test("In the public database anyone is notified who may read the record")
    func publicDatabase() async throws {
        _ = try await cloud.service.importSchema(
            """
            DEFINE SCHEMA
            RECORD TYPE Open (title STRING QUERYABLE, GRANT CREATE TO "_icloud",
                GRANT WRITE TO "_creator", GRANT READ TO "_world");
            RECORD TYPE Mine (title STRING QUERYABLE, GRANT CREATE TO "_icloud",
                GRANT READ, WRITE TO "_creator");
            """,
            container: FixtureCloud.container,
            environment: .development
        )
        let (owner, guest) = (try await cloud.listen(as: ada), try await cloud.listen(as: bob))
        for user in [ada, bob] {
            for type in ["Open", "Mine"] {
                let made = try await cloud.subscribe(
                    type,
                    "query",
                    .public,
                    as: user,
                    ["query": ["recordType": .string(type)], "firesOn": ["create"]]
                )
                #expect(made.serverErrorCode == nil)
            }
        }
        let response = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [
                FixtureCloud.note("create", "o", type: "Open"),
                FixtureCloud.note("create", "m", type: "Mine"),
            ]
        )
        #expect(response.records.allSatisfy { $0.serverErrorCode == nil }, "\(response)")
        #expect(try await owner.waiting().map(\.ck.qry.sid) == ["Mine", "Open"])
        #expect(try await guest.waiting().map(\.ck.qry.sid) == ["Open"])
        #expect(try await guest.waiting().map(\.ck.qry.dbs) == [0])
        _ = try await cloud.call(
            "subscriptions/modify",
            .public,
            as: bob,
            [
                "operations": [
                    ["operationType": "delete", "subscription": ["subscriptionID": "Open"]]
                ]
            ]
        )
        _ = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [FixtureCloud.note("create", "o2", type: "Open")]
        )
        #expect(try await guest.waiting().count == 1)
    }
}
