import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Participants of shares", .overHTTP)
struct ShareAccessTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User
    let eve: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        bob = try await cloud.addUser("Bob")
        eve = try await cloud.addUser("Eve")
        try await cloud.addZone("Notes", as: ada)
    }

    private var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    private func participant(_ user: FixtureCloud.User, _ permission: JSON = "READ_WRITE") -> JSON {
        [
            "type": "USER", "permission": permission,
            "userIdentity": ["userRecordName": .string(user.name)],
        ]
    }

    /// Returns an operation on the share of a record.
    private func operation(
        _ kind: JSON,
        of root: String,
        _ permission: JSON,
        _ participants: [JSON]?
    ) -> JSON {
        var record: [String: JSON] = [
            "recordName": .string("share of \(root)"), "recordType": "cloudkit.share",
            "forRecord": ["recordName": .string(root)], "publicPermission": permission,
        ]
        if let participants { record["participants"] = .array(participants) }
        return ["operationType": kind, "record": .object(record)]
    }

    /// Creates a note and shares it; returns the share.
    private func share(
        _ root: String,
        _ permission: JSON = "NONE",
        _ participants: [JSON] = []
    ) async throws -> JSON {
        let operations = [
            FixtureCloud.note("create", root),
            operation("create", of: root, permission, participants),
        ]
        return try await cloud.modify(as: ada, operations).records[1]
    }

    /// Changes the share of a record as its owner; nil leaves the participants unchanged.
    private func change(
        _ root: String,
        _ permission: JSON,
        _ participants: [JSON]? = nil
    ) async throws -> JSON {
        let change = operation("forceUpdate", of: root, permission, participants)
        return try await cloud.modify(as: ada, [change]).records[0]
    }

    private func accept(_ share: JSON, as user: FixtureCloud.User) async throws {
        let body: JSON = ["shortGUIDs": [["value": share.shortGUID]]]
        let response = try await cloud.call("records/accept", .public, as: user, body)
        #expect(response.body.results[0].participantStatus == "ACCEPTED", "\(response)")
    }

    private func modify(
        _ operations: [JSON],
        atomic: Bool = false,
        as user: FixtureCloud.User
    ) async throws -> [JSON] {
        let body: JSON = [
            "zoneID": zoneID, "atomic": .bool(atomic), "operations": .array(operations),
        ]
        return try await cloud.call("records/modify", .shared, as: user, body).records
    }

    private func changes(
        _ zoneID: JSON,
        _ database: DatabaseScope,
        as user: FixtureCloud.User,
        after token: JSON = .null
    ) async throws -> JSON {
        let body: JSON = ["zones": [["zoneID": zoneID, "syncToken": token]]]
        return try await cloud.call("changes/zone", database, as: user, body).body.zones[0]
    }

    private func types(_ share: JSON) -> [JSON] { share.participants.elements.map(\.type) }

    // MARK: Leaving

    @Test("A participant of one share of a zone can neither leave nor delete another one of it")
    func otherShare() async throws {
        try await accept(share("a", "NONE", [participant(bob)]), as: bob)
        try await accept(share("b", "NONE", [participant(eve), participant(bob)]), as: eve)
        let before = try await cloud.lookUp(["share of b"], as: ada).records[0]
        let deletion = FixtureCloud.note("forceDelete", "share of b")
        // Bob was invited to it, but has not accepted.
        let refused = try await modify([deletion], as: bob)
        #expect(refused[0].serverErrorCode == "ACCESS_DENIED")
        let after = try await cloud.lookUp(["share of b"], as: ada).records[0]
        #expect(after == before)
        #expect(try await changes(zoneID, .shared, as: eve).records.elements.count == 2)
        let left = try await modify([FixtureCloud.note("forceDelete", "share of a")], as: bob)
        #expect(left[0].deleted == true)
        let kept = try await cloud.lookUp(["share of a"], as: ada).records[0]
        #expect(types(kept) == ["OWNER"])
    }

    @Test("A participant who may write may not change the share nor put records below it")
    func shareItself() async throws {
        try await accept(share("a", "NONE", [participant(bob)]), as: bob)
        let before = try await cloud.lookUp(["share of a"], as: ada).records[0]
        let below: JSON = [
            "recordName": "x", "recordType": "Note", "parent": ["recordName": "share of a"],
        ]
        let operations = [
            operation("forceUpdate", of: "a", "READ_WRITE", nil),
            ["operationType": "create", "record": below],
        ]
        for refused in try await modify(operations, as: bob) {
            #expect(refused.serverErrorCode == "ACCESS_DENIED", "\(refused)")
        }
        #expect(try await cloud.lookUp(["share of a"], as: ada).records[0] == before)
    }

    // MARK: What everyone may do

    @Test("What everyone may do reaches who came through the link, and who was invited")
    func everyone() async throws {
        let share = try await share("a", "READ_WRITE")
        try await accept(share, as: bob)
        let write = FixtureCloud.note("forceUpdate", "a")
        for (permission, code) in [("READ_ONLY", "ACCESS_DENIED"), ("READ_WRITE", nil)]
            as [(JSON, JSON)]
        {
            let changed = try await change("a", permission)
            #expect(changed.participants[1].permission == permission)
            #expect(try await modify([write], as: bob)[0].serverErrorCode == code)
        }
        // A user who was invited to read may write as long as everyone may.
        let other = try await self.share("b", "NONE", [participant(eve, "READ_ONLY")])
        try await accept(other, as: eve)
        for (permission, code) in [
            ("NONE", "ACCESS_DENIED"), ("READ_WRITE", nil), ("READ_ONLY", "ACCESS_DENIED"),
        ] as [(JSON, JSON)] {
            _ = try await change("b", permission)
            let response = try await modify([FixtureCloud.note("forceUpdate", "b")], as: eve)[0]
            #expect(response.serverErrorCode == code, "\(permission)")
        }
    }

    @Test("Letting everyone in ends open invitations, letting nobody in ends parts by the link")
    func pruning() async throws {
        let share = try await share("a", "NONE", [participant(bob), participant(eve)])
        try await accept(share, as: bob)
        let open = try await change("a", "READ_ONLY")
        #expect(types(open) == ["OWNER", "USER"])
        try await accept(share, as: eve)
        let everyone = try await change("a", "READ_ONLY")
        #expect(types(everyone) == ["OWNER", "USER", "PUBLIC_USER"])
        let closed = try await change("a", "NONE")
        #expect(types(closed) == ["OWNER", "USER"])
        let zones = try await cloud.call("zones/list", .shared, as: eve)
        #expect(zones.body.zones.elements.isEmpty)
    }

    @Test("Meanwhile the list of those who take part is taken as it is, and no other")
    func locked() async throws {
        let share = try await share("a", "NONE", [participant(bob, "READ_ONLY")])
        try await accept(share, as: bob)
        let open = try await change("a", "READ_ONLY")
        try await accept(share, as: eve)
        let list = try await change("a", "READ_ONLY").participants.elements
        #expect(list.count == 3)
        let edits: [[JSON]] = [
            [], Array(list.prefix(2)), [list[0], participant(bob), list[2]],
            list + [participant(try await cloud.addUser("Cleo"))],
        ]
        for edit in edits {
            let refused = try await change("a", "READ_WRITE", edit)
            #expect(refused.serverErrorCode == "BAD_REQUEST", "\(edit)")
        }
        // None of the changes was kept, and a save without changes succeeds.
        let same = try await change("a", "READ_WRITE", list)
        #expect(types(same) == types(.object(["participants": .array(list)])))
        #expect(same.participants[1].permission == "READ_ONLY")
        #expect(same.publicPermission == "READ_WRITE")
        #expect(same.shortGUID == open.shortGUID)
        let closed = try await change("a", "NONE", [])
        #expect(types(closed) == ["OWNER"])
    }

    // MARK: Hierarchies

    @Test("A participant's new records may stand before those that they lie below")
    func order() async throws {
        try await accept(share("a", "NONE", [participant(bob)]), as: bob)
        func note(_ name: String, below parent: String, _ fields: JSON = [:]) -> JSON {
            [
                "operationType": "create",
                "record": [
                    "recordName": .string(name), "recordType": "Note", "fields": fields,
                    "parent": ["recordName": .string(parent)],
                ],
            ]
        }
        for isAtomic in [true, false] {
            let (leaf, mid) = ("leaf \(isAtomic)", "mid \(isAtomic)")
            let made = try await modify(
                [note(leaf, below: mid), note(mid, below: "a")],
                atomic: isAtomic,
                as: bob
            )
            #expect(made.map(\.recordName) == [.string(leaf), .string(mid)])
            #expect(made.map(\.serverErrorCode) == [nil, nil])
            let bad: JSON = ["no good": ["value": 1]]
            let failed = try await modify(
                [note("c", below: "b"), note("b", below: "a", bad)],
                atomic: isAtomic,
                as: bob
            )
            let code: JSON = isAtomic ? "ATOMIC_ERROR" : "VALIDATING_REFERENCE_ERROR"
            #expect(failed.map(\.serverErrorCode) == [code, "BAD_REQUEST"])
        }
    }

    // MARK: Tokens

    @Test("A zone's change token is good for one user, however many shares of it come and go")
    func tokens() async throws {
        try await accept(share("a", "NONE", [participant(bob), participant(eve)]), as: bob)
        try await accept(try await cloud.lookUp(["share of a"], as: ada).records[0], as: eve)
        let own: JSON = ["zoneName": "Notes"]
        let adas = try await changes(own, .private, as: ada).syncToken
        let bobs = try await changes(zoneID, .shared, as: bob).syncToken
        let eves = try await changes(zoneID, .shared, as: eve).syncToken
        let asBob = try await changes(zoneID, .shared, as: bob, after: adas)
        #expect(asBob.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        for token in [bobs, eves] {
            let asAda = try await changes(own, .private, as: ada, after: token)
            #expect(asAda.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        }
        let asEve = try await changes(zoneID, .shared, as: eve, after: bobs)
        #expect(asEve.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        // Joining and leaving another share of the zone adds and removes its records.
        let news = FixtureCloud.note("forceUpdate", "a")
        try await accept(share("b", "READ_ONLY"), as: bob)
        _ = try await cloud.modify(as: ada, [news])
        var page = try await changes(zoneID, .shared, as: bob, after: bobs)
        #expect(Set(page.records.elements.map(\.recordName)) == ["a", "b", "share of b"])
        _ = try await modify([FixtureCloud.note("forceDelete", "share of b")], as: bob)
        _ = try await cloud.modify(as: ada, [news])
        page = try await changes(zoneID, .shared, as: bob, after: page.syncToken)
        let gone = page.records.elements.filter { $0.deleted == true }.map(\.recordName)
        #expect(Set(gone) == ["b", "share of b"])
        #expect(page.records.elements.filter { $0.deleted != true }.map(\.recordName) == ["a"])
        // The tokens in lists of zones work too.
        let zones = try await cloud.call("zones/list", .shared, as: bob).body.zones
        let none = try await changes(zoneID, .shared, as: bob, after: zones[0].syncToken)
        #expect(none.records.elements.isEmpty && none.serverErrorCode == nil)
    }
}
