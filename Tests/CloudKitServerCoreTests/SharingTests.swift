import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Sharing", .overHTTP)
struct SharingTests {
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

    private func note(
        _ name: String,
        parent: String? = nil,
        _ kind: String = "create"
    ) -> JSON {
        var record: [String: JSON] = [
            "recordName": .string(name), "recordType": "Note",
            "fields": ["title": ["value": .string(name)]],
        ]
        if let parent { record["parent"] = ["recordName": .string(parent)] }
        return ["operationType": .string(kind), "record": .object(record)]
    }

    /// Shares the note "root" with Bob; returns the share.
    private func share(
        _ permission: JSON = "READ_WRITE",
        publicPermission: JSON = "NONE",
        invites: Bool = true
    ) async throws -> JSON {
        let participant: JSON = [
            "type": "USER", "permission": permission,
            "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
        ]
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "root"], "publicPermission": publicPermission,
                "participants": invites ? [participant] : [],
                "fields": ["cloudkit.title": ["value": "Shopping"]],
            ],
        ]
        let response = try await cloud.modify(
            as: ada,
            [share, note("root"), note("child", parent: "root"), note("private")]
        )
        for record in response.records { #expect(record.serverErrorCode == nil, "\(record)") }
        #expect(response.records[1].share.recordName == "share")
        return response.records[0]
    }

    private func call(
        _ endpoint: String,
        _ database: DatabaseScope = .shared,
        as user: FixtureCloud.User,
        _ body: JSON
    ) async throws -> FixtureCloud.Response {
        try await cloud.call(endpoint, database, as: user, body)
    }

    private func accept(_ share: JSON, as user: FixtureCloud.User) async throws -> JSON {
        let body: JSON = [
            "shortGUIDs": [["value": share.shortGUID, "shouldFetchRootRecord": true]]
        ]
        return try await call("records/accept", .public, as: user, body).body.results[0]
    }

    private func shared(
        _ operations: [JSON],
        as user: FixtureCloud.User
    ) async throws -> FixtureCloud.Response {
        let body: JSON = ["zoneID": zoneID, "atomic": false, "operations": .array(operations)]
        return try await call("records/modify", as: user, body)
    }

    private func visible(_ user: FixtureCloud.User) async throws -> Set<String> {
        let response = try await call("changes/zone", as: user, ["zones": [["zoneID": zoneID]]])
        return Set(response.body.zones[0].records.elements.compactMap(\.recordName.text))
    }

    @Test("A participant sees the hierarchy after accepting, and nothing else")
    func accepting() async throws {
        let share = try await share()
        #expect(share.fields["cloudkit.title"].value == "Shopping")
        #expect(share.participants.elements.map(\.type) == ["OWNER", "USER"])
        #expect(share.participants[1].acceptanceStatus == "INVITED")
        let before = try await call("zones/list", as: bob, [:])
        #expect(before.body.zones.elements.isEmpty)
        let resolved = try await call(
            "records/resolve",
            .public,
            as: bob,
            ["shortGUIDs": [["value": share.shortGUID]]]
        ).body.results[0]
        #expect(resolved.participantStatus == "INVITED")
        #expect(resolved.databaseScope == "SHARED")
        let accepted = try await accept(share, as: bob)
        #expect(accepted.participantStatus == "ACCEPTED")
        #expect(accepted.rootRecord.recordName == "root")
        #expect(accepted.zoneID.ownerRecordName == .string(ada.name))
        let zones = try await call("changes/database", as: bob, [:])
        #expect(zones.body.zones.elements.map(\.zoneID.zoneName) == ["Notes"])
        #expect(try await visible(bob) == ["share", "root", "child"])
        let lookup = try await call(
            "records/lookup",
            as: bob,
            ["zoneID": zoneID, "records": [["recordName": "private"], ["recordName": "child"]]]
        )
        #expect(lookup.records.map(\.serverErrorCode) == ["NOT_FOUND", nil])
        let query = try await call(
            "records/query",
            as: bob,
            ["zoneID": zoneID, "query": ["recordType": "Note"]]
        )
        #expect(Set(query.records.map(\.recordName)) == ["root", "child"])
    }

    @Test("The right to write covers the hierarchy only; READ_ONLY gives none")
    func writing() async throws {
        for (permission, code) in [("READ_WRITE", nil), ("READ_ONLY", "ACCESS_DENIED")]
            as [(JSON, JSON)]
        {
            let sharing = try await SharingTests()
            _ = try await sharing.accept(sharing.share(permission), as: sharing.bob)
            let response = try await sharing.shared(
                [
                    note("child", parent: "root", "forceUpdate"), note("new", parent: "child"),
                    note("stray"), note("private", parent: nil, "forceUpdate"),
                ],
                as: sharing.bob
            )
            #expect(
                response.records.map(\.serverErrorCode) == [
                    code, code, "ACCESS_DENIED", "ACCESS_DENIED",
                ]
            )
        }
    }

    @Test("Changes of either side reach the other")
    func bothWays() async throws {
        _ = try await accept(share(), as: bob)
        let before = try await cloud.changes(as: ada).syncToken
        let token = try await call("changes/database", as: bob, [:]).body.syncToken
        let saved = try await shared([note("child", parent: "root", "forceUpdate")], as: bob)
        #expect(saved.records[0].modified.userRecordName == .string(bob.name))
        let changes = try await cloud.changes(as: ada, after: before)
        #expect(changes.records.elements.map(\.recordName) == ["child"])
        let zones = try await call("changes/database", as: bob, ["syncToken": token])
        #expect(zones.body.zones.elements.count == 1)
    }

    @Test("Strangers get nothing from a private link; a public link lets them in")
    func links() async throws {
        let eve = try await cloud.addUser("Eve")
        let closed = try await share()
        #expect(try await accept(closed, as: eve).serverErrorCode == "ACCESS_DENIED")
        #expect(try await visible(eve).isEmpty)
        let open = try await SharingTests()
        let link = try await open.share("READ_ONLY", publicPermission: "READ_ONLY", invites: false)
        let accepted = try await open.accept(link, as: open.bob)
        #expect(accepted.participantType == "PUBLIC_USER")
        #expect(try await open.visible(open.bob) == ["share", "root", "child"])
        let unknown: JSON = ["shortGUIDs": [["value": "0nothing"]]]
        let response = try await call("records/resolve", .public, as: bob, unknown)
        #expect(response.body.results[0].serverErrorCode == "NOT_FOUND")
    }

    @Test("A user to whom an unclaimed address may belong learns so; accounts have theirs")
    func verification() async throws {
        let eve = try await cloud.addUser("Eve", emailAddress: "eve@example.com")
        func share(_ name: String, inviting address: String) async throws -> JSON {
            let participant: JSON = [
                "type": "USER", "userIdentity": ["lookupInfo": ["emailAddress": .string(address)]],
            ]
            let share: JSON = [
                "operationType": "create",
                "record": [
                    "recordName": .string("share of \(name)"), "recordType": "cloudkit.share",
                    "forRecord": ["recordName": .string(name)], "participants": [participant],
                ],
            ]
            return try await cloud.modify(as: ada, [note(name), share]).records[1]
        }
        func resolve(_ share: JSON, as user: FixtureCloud.User) async throws -> JSON {
            let body: JSON = ["shortGUIDs": [["value": share.shortGUID]]]
            return try await call("records/resolve", .public, as: user, body).body.results[0]
        }
        let unknown = try await share("a", inviting: "bob@example.com")
        let known = try await share("b", inviting: "EVE@example.com")
        #expect(try await resolve(known, as: eve).participantStatus == "INVITED")
        for response in [try await resolve(unknown, as: bob), try await accept(unknown, as: bob)] {
            #expect(response.serverErrorCode == "ACCESS_DENIED" && response.nativeErrorCode == 33)
        }
        let stranger = try await resolve(known, as: bob)
        #expect(stranger.serverErrorCode == "ACCESS_DENIED" && stranger.nativeErrorCode == nil)
    }

    @Test("Revoking, leaving and deleting the share each close the zone")
    func closing() async throws {
        func revoke(_ sharing: SharingTests) async throws {
            let update: JSON = [
                "operationType": "forceUpdate",
                "record": [
                    "recordName": "share", "recordType": "cloudkit.share", "participants": [],
                    "forRecord": ["recordName": "root"],
                ],
            ]
            let response = try await sharing.cloud.modify(as: sharing.ada, [update])
            #expect(response.records[0].participants.elements.count == 1)
        }
        func leave(_ sharing: SharingTests) async throws {
            let response = try await sharing.shared(
                [FixtureCloud.note("forceDelete", "share")],
                as: sharing.bob
            )
            #expect(response.records[0].deleted == true)
            let kept = try await sharing.cloud.lookUp(["share"], as: sharing.ada).records[0]
            #expect(kept.participants.elements.map(\.type) == ["OWNER"])
        }
        func delete(_ sharing: SharingTests) async throws {
            _ = try await sharing.cloud.modify(
                as: sharing.ada,
                [FixtureCloud.note("forceDelete", "share")]
            )
            let root = try await sharing.cloud.lookUp(["root"], as: sharing.ada).records[0]
            #expect(root.recordName == "root")
            #expect(root.share == nil)
        }
        for close in [revoke, leave, delete] {
            let sharing = try await SharingTests()
            _ = try await sharing.accept(sharing.share(), as: sharing.bob)
            let token = try await sharing.call("changes/database", as: sharing.bob, [:])
            try await close(sharing)
            let gone = try await sharing.call(
                "changes/database",
                as: sharing.bob,
                ["syncToken": token.body.syncToken]
            )
            #expect(gone.body.zones.elements.map(\.deleted) == [true])
            #expect(try await sharing.visible(sharing.bob).isEmpty)
        }
    }

    @Test("A whole zone can be shared")
    func wholeZone() async throws {
        let participant: JSON = [
            "permission": "READ_WRITE", "userIdentity": ["userRecordName": .string(bob.name)],
        ]
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                "participants": [participant],
            ],
        ]
        let saved = try await cloud.modify(as: ada, [note("a"), share])
        _ = try await accept(saved.records[1], as: bob)
        let made = try await shared([note("b")], as: bob)
        #expect(made.records[0].serverErrorCode == nil)
        #expect(try await visible(bob) == ["a", "b", "cloudkit.zoneshare"])
    }

    @Test("A share without a root is refused")
    func noRoot() async throws {
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "nothing"],
            ],
        ]
        let response = try await cloud.modify(as: ada, [share])
        #expect(response.records[0].serverErrorCode == "BAD_REQUEST")
        #expect(
            response.records[0].reason.text?
                .hasPrefix("Cannot share - no such record exists to share") == true
        )
    }

    @Test("Records carry every member that clients know, but those of requests")
    func members() async throws {
        _ = try await share()
        let response = try await cloud.lookUp(["share", "root", "child"], as: ada)
        let sent = response.records.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        let known =
            WireRecord.CodingKeys.allCases.map(\.stringValue)
            + WireShare.CodingKeys.allCases.map(\.stringValue)
        let ofRequests = ["removesParent", "createShortGUID", "forRecord"]
        #expect(sent.union(ofRequests) == Set(known))
        #expect(sent.isDisjoint(with: ofRequests))
    }
}
