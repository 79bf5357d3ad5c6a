import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Reset, snapshot and restore of a container")
struct SnapshotTests {
    private let container = FixtureCloud.container

    private static func cloud() async throws -> (FixtureCloud, FixtureCloud.User) {
        let cloud = try await FixtureCloud()
        let user = try await cloud.addUser()
        try await cloud.addZone("Notes", as: user)
        _ = try await cloud.modify(
            as: user,
            ["a", "b"].map { FixtureCloud.note("create", $0, ["title": ["value": .string($0)]]) }
        )
        return (cloud, user)
    }

    private static func names(
        _ cloud: FixtureCloud,
        _ user: FixtureCloud.User
    ) async throws -> [String] {
        try await cloud.changes(as: user).records.elements.compactMap(\.recordName.text)
    }

    private static func query(
        _ cloud: FixtureCloud,
        _ user: FixtureCloud.User
    ) async throws -> [String] {
        let response = try await cloud.call(
            "records/query",
            as: user,
            [
                "zoneID": FixtureCloud.zone("Notes"),
                "query": [
                    "recordType": "Note",
                    "sortBy": [["fieldName": "title", "ascending": true]],
                ],
            ]
        )
        return response.records.compactMap(\.recordName.text)
    }

    @Test("A reset container is as new, for clients that stay signed in")
    func reset() async throws {
        let (cloud, user) = try await Self.cloud()
        try await cloud.service.resetContainer(container)
        let zones = try await cloud.call("zones/list", as: user)
        #expect(zones.body.zones.elements.map(\.zoneID.zoneName) == ["_defaultZone"])
        let schema = try await cloud.service.exportSchema(
            container: container,
            environment: .development
        )
        #expect(!schema.contains("Note"))
        try await cloud.addZone("Notes", as: user)
        #expect(try await Self.names(cloud, user) == [])
        _ = try await cloud.modify(as: user, [FixtureCloud.note("create", "a")])
        #expect(try await Self.names(cloud, user) == ["a"])
    }

    @Test("A reset can keep the schema")
    func keepsSchema() async throws {
        let (cloud, _) = try await Self.cloud()
        try await cloud.service.resetContainer(container, keepsSchema: true)
        let schema = try await cloud.service.exportSchema(
            container: container,
            environment: .development
        )
        #expect(schema.contains("Note"))
    }

    @Test(
        "A restore brings back records with their tags, queries and schema, and drops what is newer"
    )
    func restore() async throws {
        let (cloud, user) = try await Self.cloud()
        let before = try await cloud.lookUp(["a", "b"], as: user).records
        try await cloud.service.takeSnapshot("s", of: container)
        _ = try await cloud.modify(
            as: user,
            [
                FixtureCloud.note("forceDelete", "a"), FixtureCloud.note("create", "c"),
                FixtureCloud.note("create", "t", type: "Task"),
            ]
        )
        try await cloud.addZone("Later", as: user)
        try await cloud.service.restoreSnapshot("s", of: container)
        #expect(try await cloud.lookUp(["a", "b"], as: user).records == before)
        #expect(try await Self.query(cloud, user) == ["a", "b"])
        #expect(try await Self.names(cloud, user) == ["a", "b"])
        let zones = try await cloud.call("zones/list", as: user).body.zones.elements
        #expect(zones.map(\.zoneID.zoneName) == ["Notes", "_defaultZone"])
        let tag = before[0].recordChangeTag
        let saved = try await cloud.modify(as: user, [FixtureCloud.note("update", "a", tag: tag)])
        #expect(saved.records[0].serverErrorCode == .null)
        let schema = try await cloud.service.exportSchema(
            container: container,
            environment: .development
        )
        #expect(!schema.contains("Task"))
        // The same snapshot again.
        try await cloud.service.restoreSnapshot("s", of: container)
        #expect(try await cloud.lookUp(["a", "b"], as: user).records == before)
    }

    @Test("After a restore no tag is used again, so no stale version overwrites another one")
    func newTags() async throws {
        let (cloud, user) = try await Self.cloud()
        try await cloud.service.takeSnapshot("s", of: container)
        let first = try await cloud.lookUp(["a"], as: user).records[0].recordChangeTag
        func save(_ tag: JSON) async throws -> JSON {
            try await cloud.modify(as: user, [FixtureCloud.note("update", "a", tag: tag)]).records[
                0
            ]
        }
        let stale = try await save(first).recordChangeTag
        for _ in 0..<2 {
            try await cloud.service.restoreSnapshot("s", of: container)
            #expect(try await save(first).recordChangeTag != stale)
            #expect(try await save(stale).serverErrorCode == "CONFLICT")
        }
    }

    @Test(
        "Where contents are set back no tag is used again, so no stale version overwrites another one",
        arguments: ["reset", "reset twice", "restore of a deleted zone", "expired tokens"]
    )
    func tagsAfter(event: String) async throws {
        let (cloud, user) = try await Self.cloud()
        func save(_ operation: String, _ tag: JSON = .null) async throws -> JSON {
            let note = FixtureCloud.note(operation, "a", tag: tag)
            return try await cloud.modify(as: user, [note]).records[0]
        }
        func delete() async throws {
            _ = try await cloud.call(
                "zones/modify",
                as: user,
                [
                    "operations": [
                        ["operationType": "delete", "zone": ["zoneID": FixtureCloud.zone("Notes")]]
                    ]
                ]
            )
        }
        var stale: Set<String> = []
        // In one commit, so that the database has fewer changes than the zone.
        func change() async throws {
            let notes = (1...9).map { FixtureCloud.note("forceReplace", "n\($0)") }
            let saved = try await cloud.modify(as: user, notes).records
            stale.formUnion(saved.compactMap(\.recordChangeTag.text))
        }
        switch event {
        case "restore of a deleted zone":
            try await delete()
            try await cloud.service.takeSnapshot("s", of: container)
            try await cloud.addZone("Notes", as: user)
            try await change()
            try await cloud.service.restoreSnapshot("s", of: container)
            try await cloud.addZone("Notes", as: user)
        case "expired tokens":
            // As after a restored backup, which does not know the changes that came after it.
            stale = Set((1...9).map { String($0, radix: 36) })
            try await delete()
            try await cloud.service.expireChangeTokens(container: container)
            try await cloud.addZone("Notes", as: user)
        default:
            for _ in event.split(separator: " ") {
                try await change()
                try await cloud.service.resetContainer(container)
                try await cloud.addZone("Notes", as: user)
            }
        }
        #expect(stale.count >= 9)
        for _ in 0..<20 {
            let tag = try await save("forceReplace").recordChangeTag.text ?? ""
            #expect(!stale.contains(tag))
        }
        let tag = try #require(stale.first)
        #expect(try await save("update", .string(tag)).serverErrorCode == "CONFLICT")
    }

    @Test("After a restored backup a new zone begins above all numbers of before")
    func newZone() async throws {
        let (cloud, user) = try await Self.cloud()
        try await cloud.service.expireChangeTokens(container: container)
        try await cloud.addZone("Later", as: user)
        let note = FixtureCloud.note("create", "a")
        let tag = try await cloud.modify("Later", as: user, [note]).records[0].recordChangeTag.text
        // The time in microseconds: no change after the backup had a number as high.
        let number = try #require(Int64(tag ?? "", radix: 36))
        #expect(number > cloud.clock.milliseconds * 1000)
    }

    @Test("A snapshot's name is not blank", arguments: ["", "  ", "\u{A0}\n"])
    func blankName(name: String) async throws {
        let (cloud, _) = try await Self.cloud()
        await #expect { try await cloud.service.takeSnapshot(name, of: container) } throws: {
            error in
            (error as? RequestError)?.serverErrorCode == .badRequest
        }
        #expect(try await cloud.service.snapshots(of: container) == [])
    }

    @Test(
        "After a reset or a restore every change token of before is expired",
        arguments: [true, false]
    )
    func tokens(isReset: Bool) async throws {
        let (cloud, user) = try await Self.cloud()
        try await cloud.service.takeSnapshot("s", of: container)
        let token = try await cloud.changes(as: user).syncToken
        let database = try await cloud.call("changes/database", as: user).body.syncToken
        let shared = try await cloud.call("changes/database", .shared, as: user).body.syncToken
        if isReset {
            try await cloud.service.resetContainer(container)
            try await cloud.addZone("Notes", as: user)
        } else {
            try await cloud.service.restoreSnapshot("s", of: container)
        }
        let zone = try await cloud.changes(as: user, after: token)
        #expect(zone.serverErrorCode == "CHANGE_TOKEN_EXPIRED")
        for (scope, token) in [(DatabaseScope.private, database), (.shared, shared)] {
            let response = try await cloud.call(
                "changes/database",
                scope,
                as: user,
                ["syncToken": token]
            )
            #expect(response.code == "CHANGE_TOKEN_EXPIRED")
        }
    }

    @Test("Subscriptions come back with the snapshot that had them")
    func subscriptions() async throws {
        let (cloud, user) = try await Self.cloud()
        let subscription: JSON = [
            "subscriptionID": "s1", "subscriptionType": "zone",
            "zoneID": FixtureCloud.zone("Notes"),
        ]
        let response = try await cloud.call(
            "subscriptions/modify",
            as: user,
            ["operations": [["operationType": "create", "subscription": subscription]]]
        )
        #expect(response.body.subscriptions[0].serverErrorCode == .null)
        try await cloud.service.takeSnapshot("s", of: container)
        try await cloud.service.resetContainer(container)
        func list() async throws -> [String] {
            try await cloud.call("subscriptions/list", as: user).body.subscriptions.elements
                .compactMap(\.subscriptionID.text)
        }
        #expect(try await list() == [])
        try await cloud.service.restoreSnapshot("s", of: container)
        #expect(try await list() == ["s1"])
    }

    @Test("A user made after the snapshot stays, with an empty database")
    func laterUser() async throws {
        let (cloud, _) = try await Self.cloud()
        try await cloud.service.takeSnapshot("s", of: container)
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: bob)
        try await cloud.service.restoreSnapshot("s", of: container)
        let zones = try await cloud.call("zones/list", as: bob).body.zones.elements
        #expect(zones.map(\.zoneID.zoneName) == ["_defaultZone"])
    }

    @Test("Other containers keep what they have")
    func others() async throws {
        var configuration = ServiceConfiguration()
        configuration.opensContainers = true
        let cloud = try await FixtureCloud(configuration: configuration)
        let other = "iCloud.com.example.other"
        let user = try await cloud.addUser()
        func zones(_ container: String) async throws -> Int {
            let path = "/database/1/\(container)/development/private/zones/list"
            let query =
                "ckAPIToken=\(cloud.apiToken)&ckWebAuthToken=\(FixtureCloud.escape(user.token))"
            let request = ServiceRequest(method: "GET", path: path, query: query, baseURL: "")
            return try await FixtureCloud.Response(cloud.service.respond(to: request))
                .body.zones.elements.count
        }
        try await cloud.addZone("Notes", as: user)
        #expect(try await zones(other) == 1)
        try await cloud.service.takeSnapshot("s", of: other)
        try await cloud.service.resetContainer(other)
        try await cloud.service.restoreSnapshot("s", of: other)
        #expect(try await zones(container) == 2)
        #expect(try await cloud.service.snapshots(of: container) == [])
    }

    @Test("Unknown containers and snapshots, and names that are none, are refused")
    func refusals() async throws {
        let (cloud, user) = try await Self.cloud()
        let service = cloud.service
        await #expect(throws: RequestError.self) { try await service.resetContainer("nowhere") }
        await #expect(throws: RequestError.self) {
            try await service.restoreSnapshot("none", of: FixtureCloud.container)
        }
        await #expect(throws: RequestError.self) {
            try await service.removeSnapshot("none", of: FixtureCloud.container)
        }
        await #expect(throws: RequestError.self) {
            try await service.takeSnapshot("", of: FixtureCloud.container)
        }
        #expect(try await Self.names(cloud, user) == ["a", "b"])
    }

    @Test("A name that looks like SQL or a path is a name")
    func names() async throws {
        let (cloud, user) = try await Self.cloud()
        let name = "'; DROP TABLE record; -- ../../etc"
        try await cloud.service.takeSnapshot(name, of: container)
        try await cloud.service.resetContainer(container)
        try await cloud.service.restoreSnapshot(name, of: container)
        #expect(try await Self.names(cloud, user) == ["a", "b"])
        try await cloud.service.removeSnapshot(name, of: container)
        #expect(try await cloud.service.snapshots(of: container) == [])
    }

    @Test(
        "A query's marker from before a reset, a restore or the end of all tokens is refused",
        arguments: ["reset", "restore", "expire"]
    )
    func markers(_ event: String) async throws {
        let (cloud, user) = try await Self.cloud()
        func page(_ marker: JSON = nil) async throws -> FixtureCloud.Response {
            try await cloud.call(
                "records/query",
                as: user,
                [
                    "query": ["recordType": "Note"], "resultsLimit": 1,
                    "continuationMarker": marker,
                ]
            )
        }
        func fill() async throws {
            for name in ["a", "b", "c"] {
                let note = FixtureCloud.note("forceReplace", name)
                _ = try await cloud.modify("_defaultZone", as: user, [note])
            }
        }
        try await fill()
        try await cloud.service.takeSnapshot("s", of: container)
        let marker = try await page().body.continuationMarker
        #expect(try await page(marker).records.map(\.recordName) == ["b"])
        switch event {
        case "reset":
            try await cloud.service.resetContainer(container, keepsSchema: true)
            try await fill()
        case "restore": try await cloud.service.restoreSnapshot("s", of: container)
        default: try await cloud.service.expireChangeTokens(container: container)
        }
        let refused = try await page(marker)
        #expect(refused.status == 400)
        #expect(refused.code == "BAD_REQUEST")
        #expect(refused.reason.contains("continuationMarker"))
        let again = try await page().body.continuationMarker
        #expect(try await page(again).records.map(\.recordName) == ["b"])
    }
}
