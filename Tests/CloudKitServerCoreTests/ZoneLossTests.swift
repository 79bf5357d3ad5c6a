import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Zones that no app deleted")
struct ZoneLossTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
    }

    private func lose(
        _ names: [String]? = nil,
        _ reason: ZoneDeletionReason = .purged,
        of user: ServiceUser? = nil
    ) async throws {
        try await cloud.service.deleteZones(
            names,
            of: user ?? ada.user,
            environment: .development,
            because: reason
        )
    }

    private func changes(
        after token: JSON = .null,
        _ endpoint: String = "changes/database",
        query: String = "&deletionReasons=true"
    ) async throws -> JSON {
        let key = endpoint == "zones/changes" ? "metaSyncToken" : "syncToken"
        let body: JSON = .object([key: token])
        return try await cloud.call(endpoint, as: ada, query: query, body).body
    }

    @Test(
        "The database's feed gives the reason to who asks for it, and the plain form to others",
        arguments: [ZoneDeletionReason.purged, .encryptedDataReset]
    )
    func feed(reason: ZoneDeletionReason) async throws {
        let token = try await changes().syncToken
        try await lose(["Notes"], reason)
        let asked = try await changes(after: token).zones[0]
        #expect(asked.deletionReason == .string(reason.rawValue) && asked.deleted == true)
        let plain = try await changes(after: token, query: "").zones[0]
        #expect(plain.keys == ["zoneID", "deleted"])
        let older = try await changes("zones/changes", query: "").zones[0]
        #expect(older.keys == ["zoneID", "deleted"])
        // A new generation of the zone does not change how the last one ended.
        try await cloud.addZone("Notes", as: ada)
        let again = try await changes(after: token).zones.elements
        #expect(again.map(\.deletionReason) == [.string(reason.rawValue), .null])
        #expect(again.map(\.deleted) == [true, .null])
    }

    @Test("Requests about the zone fail with ZONE_NOT_FOUND and the reason, as a whole or by item")
    func requests() async throws {
        try await lose()
        let whole = [
            try await cloud.modify(as: ada, [FixtureCloud.note("create", "b")]),
            try await cloud.lookUp(["a"], as: ada),
            try await cloud.call(
                "records/query",
                as: ada,
                ["zoneID": FixtureCloud.zone("Notes"), "query": ["recordType": "Note"]]
            ),
        ]
        for response in whole {
            #expect((response.status, response.code) == (404, "ZONE_NOT_FOUND"))
            #expect(response.body.deletionReason == "PURGED")
        }
        let mixed = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [
                FixtureCloud.note("create", "b"),
                [
                    "operationType": "create",
                    "record": [
                        "recordName": "c", "recordType": "Note",
                        "zoneID": FixtureCloud.zone("Notes"),
                    ],
                ],
            ]
        )
        #expect(mixed.records.map(\.serverErrorCode) == [nil, "ZONE_NOT_FOUND"])
        #expect(mixed.records[1].deletionReason == "PURGED")
        let zones = try await cloud.call(
            "zones/lookup",
            as: ada,
            ["zones": [FixtureCloud.zone("Notes"), FixtureCloud.zone("Never")]]
        ).body.zones
        #expect(zones[0].deletionReason == "PURGED" && zones[1].deletionReason == .null)
        #expect(try await cloud.changes(as: ada).deletionReason == "PURGED")
    }

    @Test("A zone that an app deletes has no reason, whatever ended its lives before")
    func deletedByApp() async throws {
        try await lose()
        try await cloud.addZone("Notes", as: ada)
        let delete: JSON = [
            "operationType": "delete", "zone": ["zoneID": FixtureCloud.zone("Notes")],
        ]
        _ = try await cloud.call("zones/modify", as: ada, ["operations": [delete]])
        #expect(try await changes().zones[0].keys == ["zoneID", "deleted"])
        let response = try await cloud.lookUp(["a"], as: ada)
        #expect(response.code == "ZONE_NOT_FOUND" && response.body.deletionReason == .null)
    }

    @Test("What is not there, and the default zone, are refused, and nothing is changed")
    func mistakes() async throws {
        for (names, code) in [
            (["Notes", "Never"], ServerErrorCode.zoneNotFound),
            (["Notes", "_defaultZone"], .badRequest),
        ] {
            let error = await #expect(throws: RequestError.self) { try await lose(names) }
            #expect(error?.serverErrorCode == code)
        }
        var nobody = ada.user
        nobody.userRecordName = "_nobody"
        let stranger = nobody
        let error = await #expect(throws: RequestError.self) { try await lose(of: stranger) }
        #expect(error?.serverErrorCode == .notFound)
        #expect(try await cloud.lookUp(["a"], as: ada).records[0].recordName == "a")
    }

    @Test("The user's devices are notified, as of any deletion")
    func push() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("d", "database", as: ada, [:])
        try await lose()
        #expect(try await listener.waiting().count == 1)
    }

    @Test("A container that is brought back has its zones, and knows why others are gone")
    func snapshot() async throws {
        try await cloud.addZone("Old", as: ada)
        try await lose(["Old"], .encryptedDataReset)
        try await cloud.service.takeSnapshot("s", of: FixtureCloud.container)
        try await lose()
        try await cloud.service.restoreSnapshot("s", of: FixtureCloud.container)
        #expect(try await cloud.lookUp(["a"], as: ada).records[0].recordName == "a")
        let zones = try await changes().zones.elements
        #expect(zones.map(\.deletionReason) == [.null, "ENCRYPTED_DATA_RESET"])
    }
}
