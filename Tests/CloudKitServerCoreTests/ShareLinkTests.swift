import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Links of shares", .overHTTP)
struct ShareLinkTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: ada)
    }

    /// Returns a share of a record, or of the zone, that everyone may read.
    private func share(_ name: JSON, of root: JSON = .null) -> JSON {
        var record: [String: JSON] = [
            "recordName": name, "recordType": "cloudkit.share", "publicPermission": "READ_ONLY",
        ]
        if root != .null { record["forRecord"] = ["recordName": root] }
        return ["operationType": "create", "record": .object(record)]
    }

    private func wholeShare() -> JSON { share("cloudkit.zoneshare") }

    private func delete(_ names: String...) async throws {
        let deletions = names.map { FixtureCloud.note("forceDelete", $0) }
        let response = try await cloud.modify(as: ada, deletions)
        #expect(response.records.allSatisfy { $0.deleted == true }, "\(response)")
    }

    /// Returns the link of the share that the last of several operations creates.
    private func link(_ operations: [JSON], in zone: String = "Notes") async throws -> JSON {
        let response = try await cloud.modify(zone, as: ada, operations)
        let link = try #require(response.records.last).shortGUID
        #expect((link.text?.count ?? 0) > 20, "\(response)")
        return link
    }

    /// Returns the target of a link.
    private func resolve(_ link: JSON) async throws -> JSON {
        let body: JSON = ["shortGUIDs": [["value": link]]]
        return try await cloud.call("records/resolve", .public, as: bob, body).body.results[0]
    }

    private func expectNowhere(_ link: JSON) async throws {
        #expect(try await resolve(link).serverErrorCode == "NOT_FOUND")
    }

    @Test("A record has one link in its life, which leads nowhere while it is not shared")
    func record() async throws {
        let first = try await link([FixtureCloud.note("create", "root"), share("one", of: "root")])
        #expect(try await resolve(first).share.recordName == "one")
        try await delete("one")
        try await expectNowhere(first)
        #expect(try await link([share("two", of: "root")]) == first)
        #expect(try await resolve(first).share.recordName == "two")
        // A record that is created again under that name is a different one.
        try await delete("root")
        try await expectNowhere(first)
        cloud.clock.advance(seconds: 1)
        let other = try await link([FixtureCloud.note("create", "root"), share("two", of: "root")])
        #expect(other != first)
        try await expectNowhere(first)
        #expect(try await resolve(other).share.recordName == "two")
    }

    @Test("A root keeps its short GUID when it is saved again, shared or not any more")
    func savedAgain() async throws {
        let link = try await link([FixtureCloud.note("create", "root"), share("one", of: "root")])
        for isShared in [true, false] {
            if !isShared { try await delete("one") }
            let saved = try await cloud.modify(as: ada, [FixtureCloud.note("forceUpdate", "root")])
            #expect(saved.records[0].shortGUID == link, "\(isShared)")
        }
    }

    @Test("The indexes have the share of a root for as long as it is shared")
    func indexes() async throws {
        _ = try await cloud.service.importSchema(
            #"DEFINE SCHEMA RECORD TYPE Note ("___share" REFERENCE QUERYABLE, title STRING);"#,
            container: FixtureCloud.container,
            environment: .development
        )
        _ = try await link([FixtureCloud.note("create", "root"), share("one", of: "root")])
        #expect(try await cloud.service.check().findings == [])
        try await delete("one")
        #expect(try await cloud.service.check().findings == [])
        _ = try await link([share("two", of: "root")])
        #expect(try await cloud.service.check().findings == [])
    }

    @Test("A zone that is shared as a whole has one link in its life")
    func zone() async throws {
        let first = try await link([wholeShare()])
        try await delete("cloudkit.zoneshare")
        try await expectNowhere(first)
        #expect(try await link([wholeShare()]) == first)
        for kind in ["delete", "create"] as [JSON] {
            let zone: JSON = ["zoneID": FixtureCloud.zone("Notes")]
            let operation: JSON = ["operationType": kind, "zone": zone]
            _ = try await cloud.call("zones/modify", as: ada, ["operations": [operation]])
        }
        let other = try await link([wholeShare()])
        #expect(other != first)
        try await expectNowhere(first)
        #expect(try await resolve(other).share.recordName == "cloudkit.zoneshare")
    }

    @Test("Records of one name in two zones, two of a zone, and the zone have links of their own")
    func unique() async throws {
        try await cloud.addZone("Other", as: ada)
        try await cloud.addZone("Whole", as: ada)
        let pair = [FixtureCloud.note("create", "root"), share("one", of: "root")]
        var links: Set<JSON> = []
        for zone in ["Notes", "Other"] { links.insert(try await link(pair, in: zone)) }
        links.insert(try await link([FixtureCloud.note("create", "r"), share("two", of: "r")]))
        links.insert(try await link([wholeShare()], in: "Whole"))
        #expect(links.count == 4)
    }

    @Test("A record is shared once in a request too, and not in a zone that the request shares")
    func twice() async throws {
        let twice = try await cloud.modify(
            as: ada,
            atomic: false,
            [
                share("one", of: "root"), share("two", of: "root"), wholeShare(),
                FixtureCloud.note("create", "root"),
            ]
        )
        #expect(
            twice.records.map(\.serverErrorCode) == [nil, "BAD_REQUEST", "BAD_REQUEST", nil]
        )
        #expect(twice.records[1].reason.text?.hasPrefix("Record is already shared") == true)
        #expect(twice.records[2].reason.text?.contains("'one'") == true)
        #expect(twice.records[3].share.recordName == "one")
        // Only as long as the share of the record exists.
        let held = try await cloud.modify(as: ada, [wholeShare()])
        #expect(held.records[0].serverErrorCode == "BAD_REQUEST")
        try await delete("one")
        _ = try await link([wholeShare()])
        let below = try await cloud.modify(as: ada, [share("one", of: "root")])
        #expect(below.records[0].reason.text?.hasPrefix("Zone is already shared") == true)
    }

    @Test("The share of a record that is not made fails with it")
    func noRoot() async throws {
        let response = try await cloud.modify(
            as: ada,
            atomic: false,
            [
                share("one", of: "root"),
                FixtureCloud.note("create", "root", ["no good": ["value": 1]]),
            ]
        )
        #expect(response.records.map(\.serverErrorCode) == ["BAD_REQUEST", "BAD_REQUEST"])
        #expect(response.records[0].reason.text?.contains("which was not saved") == true)
        #expect(try await cloud.changes(as: ada).records.elements.isEmpty)
    }

    @Test("Zones name the share of all that is in them, to those who ask and may see it")
    func named() async throws {
        func shares(_ database: DatabaseScope, as user: FixtureCloud.User) async throws -> [JSON] {
            let list = try await cloud.call(
                "zones/list",
                database,
                as: user,
                query: "&zoneShares=true"
            )
            return list.body.zones.elements.map(\.share)
        }
        try await cloud.addZone("Other", as: ada)
        #expect(try await shares(.private, as: ada) == [nil, nil, nil])
        let whole = try await link([wholeShare()])
        let part = try await link(
            [FixtureCloud.note("create", "root"), share("one", of: "root")],
            in: "Other"
        )
        for guid in [whole, part] {
            let body: JSON = ["shortGUIDs": [["value": guid]]]
            _ = try await cloud.call("records/accept", .public, as: bob, body)
        }
        let share: JSON = ["recordName": "cloudkit.zoneshare"]
        #expect(try await shares(.private, as: ada) == [share, nil, nil])
        #expect(try await shares(.shared, as: bob) == [share, nil])
        let silent = try await cloud.call("zones/list", as: ada)
        #expect(silent.body.zones.elements.allSatisfy { $0.share == nil })
        let found = try await cloud.call(
            "zones/lookup",
            as: ada,
            query: "&zoneShares=true",
            ["zones": [FixtureCloud.zone("Notes"), FixtureCloud.zone("Other")]]
        )
        #expect(found.body.zones.elements.map(\.share) == [share, nil])
        try await delete("cloudkit.zoneshare")
        #expect(try await shares(.private, as: ada) == [nil, nil, nil])
    }
}
