import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("changes/zone and changes/database", .overHTTP)
struct ChangesTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func databaseChanges(after token: JSON = .null) async throws -> JSON {
        try await cloud.call("changes/database", as: ada, ["syncToken": token]).body
    }

    @Test("Each record appears once, in its latest state, in the order of its last change")
    func order() async throws {
        _ = try await cloud.modify(
            as: ada,
            ["a", "b", "c"].map { FixtureCloud.note("create", $0) }
        )
        _ = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceUpdate", "a", ["x": ["value": 1]])]
        )
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "b")])
        let changes = try await cloud.changes(as: ada)
        #expect(changes.records.elements.map(\.recordName) == ["c", "a", "b"])
        #expect(changes.records[1].fields.x.value == 1)
        #expect(changes.records[2].deleted == true)
        #expect(changes.records[2].recordType == nil)
        #expect(changes.moreComing == false)
        let none = try await cloud.changes(as: ada, after: changes.syncToken)
        #expect(none.records.elements.isEmpty)
    }

    @Test("Pages follow each other without a gap or a retryPolicy while data changes")
    func pages() async throws {
        _ = try await cloud.modify(as: ada, (0..<25).map { FixtureCloud.note("create", "r\($0)") })
        var names: [String] = []
        var token = JSON.null
        for round in 0..<20 {
            let page = try await cloud.changes(as: ada, after: token, limit: 7)
            names += page.records.elements.compactMap(\.recordName.text)
            token = page.syncToken
            if round == 1 {
                _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "late")])
            }
            if page.moreComing == false { break }
        }
        #expect(names.count == 26)
        #expect(Set(names).count == 26)
        #expect(names.last == "late")
    }

    @Test("Newest first on request, page after page")
    func reverse() async throws {
        _ = try await cloud.modify(as: ada, (0..<5).map { FixtureCloud.note("create", "r\($0)") })
        var names: [String] = []
        var token = JSON.null
        repeat {
            let response = try await cloud.call(
                "changes/zone",
                as: ada,
                [
                    "resultsLimit": 2, "reverse": true,
                    "zones": [["zoneID": ["zoneName": "Notes"], "syncToken": token]],
                ]
            )
            let page = response.body.zones[0]
            names += page.records.elements.compactMap(\.recordName.text)
            token = page.moreComing == true ? page.syncToken : .null
        } while token != .null
        #expect(names == ["r4", "r3", "r2", "r1", "r0"])
    }

    @Test("A tombstone names its type only to clients that ask for it")
    func tombstoneType() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "a")])
        let response = try await cloud.call(
            "changes/zone",
            as: ada,
            query: "&tombstoneTypes=true",
            ["zones": [["zoneID": ["zoneName": "Notes"]]]]
        )
        #expect(response.body.zones[0].records[0].recordType == "Note")
    }

    @Test("The token of a deleted and remade zone is expired; those of other zones are refused")
    func lives() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        let token = try await cloud.changes(as: ada).syncToken
        try await cloud.addZone("Other", as: ada)
        let other = try await cloud.changes(in: "Other", as: ada, after: token)
        #expect(other.serverErrorCode == "BAD_REQUEST")
        for kind in ["delete", "create"] {
            _ = try await cloud.call(
                "zones/modify",
                as: ada,
                [
                    "operations": [
                        [
                            "operationType": .string(kind),
                            "zone": ["zoneID": ["zoneName": "Notes"]],
                        ]
                    ]
                ]
            )
        }
        let stale = try await cloud.changes(as: ada, after: token)
        #expect(stale.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        #expect(try await cloud.changes(as: ada).records.elements.isEmpty)
    }

    @Test(
        "A token that the service did not make is refused",
        arguments: ["", "x", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
    )
    func forged(token: String) async throws {
        let changes = try await cloud.changes(as: ada, after: .string(token))
        #expect(changes.serverErrorCode == "BAD_REQUEST")
        let response = try await databaseChanges(after: .string(token))
        #expect(response.serverErrorCode == "BAD_REQUEST")
    }

    @Test("A token whose signature was changed is refused")
    func signature() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        func forged(_ token: JSON) throws -> JSON {
            var bytes = try #require(Data(base64Encoded: token.text ?? ""))
            bytes[bytes.count - 1] ^= 1
            return .string(bytes.base64EncodedString())
        }
        let zone = try forged(try await cloud.changes(as: ada).syncToken)
        #expect(try await cloud.changes(as: ada, after: zone).serverErrorCode == "BAD_REQUEST")
        let database = try forged(try await databaseChanges().syncToken)
        let response = try await databaseChanges(after: database)
        #expect(response.serverErrorCode == "BAD_REQUEST")
    }

    @Test("All tokens of a container can be made to expire, as a restored backup needs it")
    func expire() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        let zone = try await cloud.changes(as: ada).syncToken
        let database = try await databaseChanges().syncToken
        try await cloud.service.expireChangeTokens(container: FixtureCloud.container)
        let changes = try await cloud.changes(as: ada, after: zone)
        #expect(changes.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        #expect(
            try await databaseChanges(after: database).serverErrorCode == "CHANGE_TOKEN_EXPIRED"
        )
        #expect(try await cloud.changes(as: ada).records.elements.count == 1)
    }

    @Test("The database's feed names each changed zone once, deleted ones too")
    func database() async throws {
        try await cloud.addZone("Lists", as: ada)
        let first = try await databaseChanges()
        #expect(first.zones.elements.map(\.zoneID.zoneName) == ["Notes", "Lists"])
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        _ = try await cloud.modify("_defaultZone", as: ada, [FixtureCloud.note("create", "a")])
        let second = try await databaseChanges(after: first.syncToken)
        #expect(second.zones.elements.map(\.zoneID.zoneName) == ["Notes"])
        _ = try await cloud.call(
            "zones/modify",
            as: ada,
            [
                "operations": [
                    ["operationType": "delete", "zone": ["zoneID": ["zoneName": "Lists"]]]
                ]
            ]
        )
        let third = try await databaseChanges(after: second.syncToken)
        #expect(third.zones.elements.map(\.zoneID.zoneName) == ["Lists"])
        #expect(third.zones[0].deleted == true)
    }

    @Test("A zone that was deleted and made again is named as deleted, then as it is")
    func remade() async throws {
        let start = try await databaseChanges()
        for kind in ["delete", "create"] as [JSON] {
            _ = try await cloud.call(
                "zones/modify",
                as: ada,
                [
                    "operations": [
                        ["operationType": kind, "zone": ["zoneID": ["zoneName": "Notes"]]]
                    ]
                ]
            )
        }
        let changes = try await databaseChanges(after: start.syncToken)
        #expect(changes.zones.elements.map(\.zoneID.zoneName) == ["Notes", "Notes"])
        #expect(changes.zones.elements.map(\.deleted) == [true, nil])
        // A client that knows the new generation, or no generation yet, is notified of the zone only.
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        let later = try await databaseChanges(after: changes.syncToken)
        #expect(later.zones.elements.map(\.deleted) == [nil])
        #expect(try await databaseChanges().zones.elements.map(\.deleted) == [nil])
    }

    @Test("One user's token and zones mean nothing to another")
    func users() async throws {
        let bob = try await cloud.addUser("Bob")
        let token = try await databaseChanges().syncToken
        let response = try await cloud.call("changes/database", as: bob, ["syncToken": token])
        #expect(response.code == "CHANGE_TOKEN_EXPIRED")
        #expect(try await cloud.lookUp(["a"], as: bob).code == "ZONE_NOT_FOUND")
        let foreign = try await cloud.call(
            "records/lookup",
            as: bob,
            [
                "zoneID": ["zoneName": "Notes", "ownerRecordName": .string(ada.name)],
                "records": [["recordName": "a"]],
            ]
        )
        #expect(foreign.code == "ZONE_NOT_FOUND")
    }

    @Test("Unknown zones and the default zone fail alone")
    func perZone() async throws {
        let response = try await cloud.call(
            "changes/zone",
            as: ada,
            [
                "zones": [
                    ["zoneID": ["zoneName": "Gone"]], ["zoneID": ["zoneName": "_defaultZone"]],
                    ["zoneID": ["zoneName": "Notes", "ownerRecordName": "__defaultOwner__"]],
                ]
            ]
        )
        #expect(
            response.body.zones.elements.map(\.serverErrorCode) == [
                "ZONE_NOT_FOUND", "BAD_REQUEST", nil,
            ]
        )
    }
}
