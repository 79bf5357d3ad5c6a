import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Seeing more than one may", .overHTTP)
struct SightAttackTests {
    /// A schema whose records every user may create and change, and only their creators may read.
    private static let schema = """
        DEFINE SCHEMA
        RECORD TYPE Letter (
            "___recordID" REFERENCE QUERYABLE, body STRING QUERYABLE SORTABLE, photo ASSET,
            to REFERENCE, GRANT READ TO "_creator", GRANT CREATE TO "_icloud",
            GRANT WRITE TO "_icloud"
        );
        """

    private func letters() async throws -> (
        FixtureCloud, ada: FixtureCloud.User, eve: FixtureCloud.User
    ) {
        let cloud = try await FixtureCloud()
        _ = try await cloud.service.importSchema(
            Self.schema,
            container: FixtureCloud.container,
            environment: .development
        )
        return (
            cloud, try await cloud.addUser(emailAddress: "ada@example.com"),
            try await cloud.addUser("Eve", emailAddress: "eve@example.com")
        )
    }

    private func modify(
        _ cloud: FixtureCloud,
        as user: FixtureCloud.User?,
        _ operations: [JSON]
    ) async throws -> [JSON] {
        let body: JSON = ["operations": .array(operations)]
        return try await cloud.call("records/modify", .public, as: user, body).records
    }

    // MARK: Roles

    @Test("A user who may not read a record gets no receipt for its file")
    func rereference() async throws {
        let (cloud, ada, eve) = try await letters()
        let token: JSON = ["recordName": "a", "recordType": "Letter", "fieldName": "photo"]
        let places = try await cloud.call("assets/upload", .public, as: ada, ["tokens": [token]])
        let upload = try await cloud.send(
            Data("the photo".utf8),
            to: places.body.tokens[0].url
        )
        let photo: JSON = ["value": upload.body.singleFile, "type": "ASSETID"]
        let letter = FixtureCloud.note("create", "a", ["photo": photo], type: "Letter")
        #expect(try await modify(cloud, as: ada, [letter])[0].serverErrorCode == nil)
        let asked: JSON = ["assets": [["recordName": "a", "fieldName": "photo"]]]
        let own = try await cloud.call("assets/rereference", .public, as: ada, asked)
        #expect(own.body.assets[0].receipt.text != nil)
        let foreign = try await cloud.call("assets/rereference", .public, as: eve, asked)
        #expect(foreign.body.assets[0].serverErrorCode == "NOT_FOUND")
        #expect(foreign.body.assets[0].receipt == nil)
    }

    @Test("A user who may change a record without reading it learns no more than they sent")
    func blindWrite() async throws {
        let (cloud, ada, eve) = try await letters()
        let fields: JSON = ["body": ["value": "dear"]]
        _ = try await modify(
            cloud,
            as: ada,
            [FixtureCloud.note("create", "a", fields, type: "Letter")]
        )
        for kind in ["forceUpdate", "update"] {
            let tag = try await cloud.lookUp(["a"], in: "_defaultZone", as: ada, database: .public)
                .records[0].recordChangeTag
            let empty = FixtureCloud.note(kind, "a", [:], tag: tag, type: "Letter")
            let saved = try await modify(cloud, as: eve, [empty])[0]
            #expect(saved.serverErrorCode == nil)
            #expect(saved.fields == [:], "\(kind)")
        }
        let sent: JSON = ["body": ["value": "mine"]]
        let saved = try await modify(
            cloud,
            as: eve,
            [FixtureCloud.note("forceUpdate", "a", sent, type: "Letter")]
        )[0]
        #expect(saved.fields.body.value == "mine")
    }

    // MARK: Existence

    @Test("Neither tags nor conflicts are shown to who may not change a record")
    func conflicts() async throws {
        let world = try await SharedTrees()
        let stale: [String: JSON] = ["recordChangeTag": "zz"]
        for (name, kind) in [
            ("secret", "update"), ("secret", "replace"), ("secret", "delete"), ("secret", "create"),
            ("secret", "forceUpdate"), ("secret", "forceDelete"),
        ] {
            func code(_ name: String) async throws -> [JSON] {
                let operation = SharedTrees.save(kind, name, [:], stale)
                let response = try await world.modify(as: world.bob, [operation])[0]
                let reason = response.reason.text ?? ""
                return [
                    response.serverErrorCode,
                    .string(reason.split(separator: name).joined(separator: "…")),
                ]
            }
            // The responses for an invisible and for a nonexistent record are the same.
            #expect(try await code(name) == code("nowhere"), "\(kind)")
        }
        // A user who may read but not write a record gets that error, whatever the tag.
        for kind in ["update", "replace", "delete"] {
            let operation = SharedTrees.save(kind, "c", [:], stale)
            let response = try await world.modify(as: world.bob, [operation])[0]
            #expect(response.serverErrorCode == "ACCESS_DENIED")
        }
    }

    @Test("Where a name is taken out of sight, nothing is revealed of what has it")
    func takenName() async throws {
        let world = try await SharedTrees()
        for kind in ["create", "forceUpdate", "forceReplace"] {
            let operation = SharedTrees.save(kind, "secret", below: "a")
            let response = try await world.modify(as: world.bob, [operation])[0]
            #expect(response.serverErrorCode == "ACCESS_DENIED")
            #expect(response.recordChangeTag == nil && response.fields == nil)
        }
        try await world.cloud.addZone("Mine", as: world.bob)
        _ = try await world.cloud.modify(
            "Mine",
            as: world.bob,
            [FixtureCloud.note("create", "secret"), FixtureCloud.note("create", "a1")]
        )
        func copy(_ name: JSON) async throws -> FixtureCloud.Response {
            let body: JSON = [
                "sourceZoneID": FixtureCloud.zone("Mine"), "targetZoneID": world.zoneID,
                "targetRootName": "a", "includeRecords": [name],
            ]
            return try await world.cloud.call("records/copy/start", as: world.bob, body)
        }
        #expect(try await copy("secret").code == "ACCESS_DENIED")
        #expect(try await copy("a1").code == "CONFLICT")
    }

    @Test("A validating reference or a parent does not reveal whether a record exists")
    func references() async throws {
        let (cloud, ada, eve) = try await letters()
        _ = try await modify(
            cloud,
            as: ada,
            [FixtureCloud.note("create", "a", [:], type: "Letter")]
        )
        for target in ["a", "nowhere"] {
            let fields = SharedTrees.reference(to: target, "VALIDATE")
            let tied = try await modify(
                cloud,
                as: eve,
                [FixtureCloud.note("create", "e", fields, type: "Letter")]
            )
            #expect(tied[0].serverErrorCode == "VALIDATING_REFERENCE_ERROR")
            let below: JSON = [
                "operationType": "create",
                "record": [
                    "recordName": "e", "recordType": "Letter",
                    "parent": ["recordName": .string(target)],
                ],
            ]
            let placed = try await modify(cloud, as: eve, [below])
            #expect(placed[0].serverErrorCode == "VALIDATING_REFERENCE_ERROR")
        }
    }

    // MARK: Addresses

    @Test("Nobody's address is returned to who did not know it")
    func addresses() async throws {
        let (cloud, ada, eve) = try await letters()
        func look(_ info: JSON, as user: FixtureCloud.User, _ way: String) async throws -> JSON {
            let body: JSON = ["users": [info]]
            return try await cloud.call("users/lookup/\(way)", .public, as: user, body).body.users[
                0
            ]
        }
        let byName: JSON = ["userRecordName": .string(ada.name)]
        #expect(try await look(byName, as: eve, "id").userRecordName == .string(ada.name))
        #expect(try await look(byName, as: eve, "id").emailAddress == nil)
        #expect(try await look(byName, as: ada, "id").emailAddress == "ada@example.com")
        let byAddress: JSON = ["emailAddress": "ada@example.com"]
        #expect(try await look(byAddress, as: eve, "email").emailAddress == "ada@example.com")
        // An invitation by record name does not reveal an address to the owner either.
        try await cloud.addZone("Notes", as: eve)
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "root"],
                "participants": [["type": "USER", "userIdentity": byName]],
            ],
        ]
        let made = try await cloud.modify(as: eve, [FixtureCloud.note("create", "root"), share])
        #expect(made.records[1].participants[1].userIdentity.userRecordName == .string(ada.name))
        #expect(!"\(made.body)".contains("ada@example.com"))
    }

    @Test("Addresses of the invited are shown to the owner alone, strangers see no participants")
    func invited() async throws {
        let (cloud, ada, eve) = try await letters()
        let cleo = try await cloud.addUser("Cleo", emailAddress: "cleo@example.com")
        try await cloud.addZone("Notes", as: ada)
        let addresses = ["eve@example.com", "cleo@example.com", "nobody@example.com"]
        func share(_ kind: JSON, _ permission: JSON, _ more: [String: JSON] = [:]) -> JSON {
            var record: [String: JSON] = [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "root"], "publicPermission": permission,
            ]
            record.merge(more) { $1 }
            return ["operationType": kind, "record": .object(record)]
        }
        let participants = addresses.map { address -> JSON in
            [
                "type": "USER",
                "userIdentity": ["lookupInfo": ["emailAddress": .string(address)]],
            ]
        }
        let made = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("create", "root"),
                share("create", "READ_ONLY", ["participants": .array(participants)]),
            ]
        ).records[1]
        #expect(addresses.allSatisfy { "\(made)".contains($0) })
        let link: JSON = ["shortGUIDs": [["value": made.shortGUID, "shouldFetchRootRecord": true]]]
        let stranger = try await cloud.addUser("Stranger")
        let resolved = try await cloud.call("records/resolve", .public, as: stranger, link).body
        #expect(resolved.results[0].rootRecord.recordName == "root")
        #expect(resolved.results[0].share.participants.elements.map(\.type) == ["OWNER"])
        #expect(!"\(resolved)".contains("@example.com"))
        let accepted = try await cloud.call("records/accept", .public, as: eve, link).body
        #expect("\(accepted)".contains("eve@example.com"))
        #expect(!"\(accepted)".contains("cleo@") && !"\(accepted)".contains("nobody@"))
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let feed = try await cloud.call(
            "changes/zone",
            .shared,
            as: eve,
            ["zones": [["zoneID": zone]]]
        ).body
        #expect(feed.zones[0].records.elements.contains { $0.recordName == "share" })
        #expect(!"\(feed)".contains("cleo@") && !"\(feed)".contains("ada@"))
        let looked = try await cloud.lookUp(["share"], as: ada).records[0]
        #expect(addresses.allSatisfy { "\(looked)".contains($0) })
        _ = cleo
    }

    // MARK: Deletions in the public database

    @Test("Nobody is kept from deleting what is theirs by references of strangers")
    func ownerDeletes() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let eve = try await cloud.addUser("Eve")
        _ = try await modify(
            cloud,
            as: ada,
            ["validated", "parent", "owned"].map { FixtureCloud.note("create", $0) }
        )
        let below: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "below", "recordType": "Note", "parent": ["recordName": "parent"],
            ],
        ]
        let made = try await modify(
            cloud,
            as: eve,
            [
                FixtureCloud.note(
                    "create",
                    "v",
                    SharedTrees.reference(to: "validated", "VALIDATE")
                ),
                below,
                FixtureCloud.note("create", "d", SharedTrees.reference(to: "owned", "DELETE_SELF")),
            ]
        )
        #expect(made.map(\.serverErrorCode) == [nil, nil, nil])
        for name in ["validated", "parent", "owned"] {
            let deleted = try await modify(cloud, as: ada, [FixtureCloud.note("forceDelete", name)])
            #expect(deleted[0].deleted == true, "\(deleted)")
        }
        // A record whose references lead nowhere can still be changed by its creator.
        let text: JSON = ["body": ["value": "x"]]
        let changed = try await modify(
            cloud,
            as: eve,
            [
                FixtureCloud.note("forceUpdate", "v", text),
                FixtureCloud.note("forceUpdate", "below", text),
            ]
        )
        #expect(changed.map(\.serverErrorCode) == [nil, nil])
        // A user's own references are enforced, as documented.
        _ = try await modify(cloud, as: eve, [FixtureCloud.note("create", "mine")])
        let own = FixtureCloud.note("create", "w", SharedTrees.reference(to: "mine", "VALIDATE"))
        _ = try await modify(cloud, as: eve, [own])
        let held = try await modify(cloud, as: eve, [FixtureCloud.note("forceDelete", "mine")])
        #expect(held[0].serverErrorCode == "VALIDATING_REFERENCE_ERROR")
    }

    @Test("A stranger's references neither go with a public record nor use up its creator's")
    func strangersReferences() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let eve = try await cloud.addUser("Eve")
        _ = try await modify(cloud, as: ada, [FixtureCloud.note("create", "target")])
        let fields = SharedTrees.reference(to: "target", "DELETE_SELF")
        for start in stride(from: 0, to: 750, by: 150) {
            let notes = (start..<start + 150).map { FixtureCloud.note("create", "e\($0)", fields) }
            let made = try await modify(cloud, as: eve, notes)
            #expect(made.allSatisfy { $0.serverErrorCode == nil })
        }
        // Only her own limit is reached.
        let tooMany = try await modify(
            cloud,
            as: eve,
            [FixtureCloud.note("create", "more", fields)]
        )
        #expect(tooMany[0].nativeErrorCode == 27)
        let own = try await modify(cloud, as: ada, [FixtureCloud.note("create", "own", fields)])
        #expect(own[0].serverErrorCode == nil)
        let gone = try await modify(cloud, as: ada, [FixtureCloud.note("forceDelete", "target")])
        #expect(gone[0].deleted == true)
        let left = try await cloud.lookUp(
            ["target", "own", "e0", "e749"],
            in: "_defaultZone",
            as: ada,
            database: .public
        ).records
        #expect(left.map(\.serverErrorCode) == ["NOT_FOUND", "NOT_FOUND", nil, nil])
        // When another user takes a name, earlier references are not tied to the new record.
        _ = try await modify(cloud, as: eve, [FixtureCloud.note("create", "own")])
        let back = FixtureCloud.note("create", "a", SharedTrees.reference(to: "own", "VALIDATE"))
        #expect(try await modify(cloud, as: ada, [back])[0].serverErrorCode == nil)
        let taken = try await modify(cloud, as: eve, [FixtureCloud.note("forceDelete", "own")])
        #expect(taken[0].deleted == true)
    }

    @Test("Public records that were made without a user have no creator in common")
    func withoutCreator() async throws {
        let cloud = try await FixtureCloud()
        let schema = """
            DEFINE SCHEMA
            RECORD TYPE Note (
                to REFERENCE, GRANT READ, CREATE, WRITE TO "_world"
            );
            """
        _ = try await cloud.service.importSchema(
            schema,
            container: FixtureCloud.container,
            environment: .development
        )
        let made = try await modify(
            cloud,
            as: nil,
            [
                FixtureCloud.note("create", "target"),
                FixtureCloud.note(
                    "create",
                    "d",
                    SharedTrees.reference(to: "target", "DELETE_SELF")
                ),
                FixtureCloud.note("create", "v", SharedTrees.reference(to: "target", "VALIDATE")),
            ]
        )
        #expect(made.map(\.serverErrorCode) == [nil, nil, nil])
        let gone = try await modify(cloud, as: nil, [FixtureCloud.note("forceDelete", "target")])
        #expect(gone[0].deleted == true)
        let left = try await cloud.lookUp(
            ["d", "v"],
            in: "_defaultZone",
            as: nil,
            database: .public
        ).records
        #expect(left.map(\.serverErrorCode) == [nil, nil])
    }
}
