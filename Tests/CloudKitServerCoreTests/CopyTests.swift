import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Copies of records into another zone")
struct CopyTests {
    let storage: SQLiteStorage
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        storage = try SQLiteStorage(path: nil)
        cloud = try await FixtureCloud(storage: storage)
        ada = try await cloud.addUser()
        for zone in ["Notes", "Copies"] { try await cloud.addZone(zone, as: ada) }
    }

    private func start(
        _ more: [String: JSON] = ["excludeRecords": []],
        as user: FixtureCloud.User? = nil
    ) async throws -> FixtureCloud.Response {
        var body = more
        body["sourceZoneID"] = body["sourceZoneID"] ?? FixtureCloud.zone("Notes")
        body["targetZoneID"] = body["targetZoneID"] ?? FixtureCloud.zone("Copies")
        return try await cloud.call("records/copy/start", as: user ?? ada, .object(body))
    }

    private func status(_ job: JSON, as user: FixtureCloud.User? = nil) async throws -> JSON {
        try await cloud.call("records/copy/status", as: user ?? ada, ["jobID": job]).body
    }

    /// Copies records, and requests the status until the copy has ended.
    private func copy(
        _ more: [String: JSON] = ["excludeRecords": []],
        as user: FixtureCloud.User? = nil
    ) async throws -> JSON {
        let started = try await start(more, as: user)
        try #require(started.status == 200, "\(started)")
        var last = try await status(started.body.jobID, as: user)
        while last.status == "IN_PROGRESS" {
            last = try await status(started.body.jobID, as: user)
        }
        return last
    }

    private func add(_ names: [String], in zone: String = "Notes") async throws {
        for start in stride(from: 0, to: names.count, by: 200) {
            let response = try await cloud.modify(
                zone,
                as: ada,
                names[start..<min(start + 200, names.count)].map {
                    FixtureCloud.note("create", $0, ["title": ["value": .string($0)]])
                }
            )
            try #require(response.records.allSatisfy { $0.serverErrorCode == nil })
        }
    }

    private func names(in zone: String = "Copies") async throws -> [String] {
        var names: [String] = []
        var token = JSON.null
        while true {
            let page = try await cloud.changes(in: zone, as: ada, after: token)
            names += page.records.elements.filter { $0.deleted != true }
                .compactMap(\.recordName.text)
            token = page.syncToken
            guard page.moreComing == true else { return names }
        }
    }

    @Test("Records come with their fields and files, under their names; the originals stay")
    func records() async throws {
        let photo = try await cloud.upload(Data("photo".utf8), for: "a", as: ada)
        _ = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "a", ["title": ["value": "A"], "photo": photo])]
        )
        let done = try await copy()
        #expect(done.status == "COMPLETED")
        #expect(done.itemsProcessed == 1)
        #expect(done.itemsTotalEstimate == 1)
        #expect(done.keys == ["jobID", "itemsProcessed", "itemsTotalEstimate", "status"])
        let copied = try await cloud.lookUp(["a"], in: "Copies", as: ada).records[0]
        #expect(copied.fields.title.value == "A")
        #expect(
            try await cloud.download(copied.fields.photo.value.downloadURL) == Data("photo".utf8)
        )
        #expect(try await names(in: "Notes") == ["a"])
        // The file belongs to the copy as well.
        cloud.outliveFiles()
        let user = try await cloud.again(ada)
        _ = try await cloud.modify(as: user, [FixtureCloud.note("forceDelete", "a")])
        try await cloud.service.clean()
        let kept = try await cloud.lookUp(["a"], in: "Copies", as: user).records[0]
        #expect(try await cloud.download(kept.fields.photo.value.downloadURL) == Data("photo".utf8))
    }

    @Test("References between copies lead to the copies; others lead to where they led")
    func references() async throws {
        try await add(["target", "outside"])
        func reference(_ name: String, _ action: JSON, zone: JSON = nil) -> JSON {
            [
                "value": ["recordName": .string(name), "action": action, "zoneID": zone],
                "type": "REFERENCE",
            ]
        }
        let own: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let child: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "child", "recordType": "Note",
                "parent": ["recordName": "target"],
                "fields": [
                    "inner": reference("target", "DELETE_SELF"),
                    "named": reference("target", "NONE", zone: own),
                    "outer": reference("outside", "DELETE_SELF"),
                    "list": [
                        "value": [["recordName": "target"], ["recordName": "outside"]],
                        "type": "REFERENCE_LIST",
                    ],
                ],
            ],
        ]
        let made = try await cloud.modify(as: ada, [child])
        try #require(made.records[0].serverErrorCode == nil, "\(made)")
        let done = try await copy(["includeRecords": ["child", "target"]])
        #expect(done.status == "COMPLETED", "\(done)")
        let fields = try await cloud.lookUp(["child"], in: "Copies", as: ada).records[0].fields
        #expect(fields.inner.value.action == "DELETE_SELF")
        #expect(fields.inner.value.zoneID == nil)
        #expect(fields.named.value.zoneID.zoneName == "Copies")
        #expect(fields.outer.value.zoneID.zoneName == "Notes")
        #expect(fields.outer.value.action == "NONE")
        #expect(fields.list.value[0].zoneID == nil)
        #expect(fields.list.value[1].zoneID.zoneName == "Notes")
        // The copy refers to the copy: it is deleted with it, and the originals stay.
        _ = try await cloud.modify("Copies", as: ada, [FixtureCloud.note("forceDelete", "child")])
        _ = try await cloud.modify("Copies", as: ada, [FixtureCloud.note("forceDelete", "target")])
        #expect(try await names() == [])
        #expect(try await Set(names(in: "Notes")) == ["target", "outside", "child"])
    }

    @Test("A parent that is not copied is replaced by the root that the request names, or by none")
    func roots() async throws {
        try await add(["parent"])
        try await add(["album"], in: "Copies")
        let child: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "child", "recordType": "Note", "parent": ["recordName": "parent"],
            ],
        ]
        _ = try await cloud.modify(as: ada, [child])
        let under = try await copy(["includeRecords": ["child"], "targetRootName": "album"])
        #expect(under.status == "COMPLETED")
        let copied = try await cloud.lookUp(["child"], in: "Copies", as: ada).records[0]
        #expect(copied.parent.recordName == "album")
        try await cloud.addZone("More", as: ada)
        _ = try await copy(["includeRecords": ["child"], "targetZoneID": FixtureCloud.zone("More")])
        let free = try await cloud.lookUp(["child"], in: "More", as: ada).records[0]
        #expect(free.recordName == "child")
        #expect(free.parent == nil)
        let missing = try await start(["includeRecords": ["child"], "targetRootName": "zz"])
        #expect(missing.code == "NOT_FOUND")
    }

    @Test("A long copy goes on batch by batch, in any service over the storage, each once")
    func batches() async throws {
        let names = (0..<1001).map { "n\($0)" }
        try await add(names)
        let job = try await start().body.jobID
        let first = try await self.names()
        #expect(first.count < names.count)
        // Another service continues, as after the end of a process.
        let other = CloudService(
            storage: storage,
            assets: cloud.assets,
            clock: cloud.clock,
            randomness: FixtureRandomness(seed: 7)
        )
        let prefix = "/database/1/\(FixtureCloud.container)/development/private/records/copy/status"
        func ask() async throws -> JSON {
            try FixtureCloud.Response(
                await other.respond(
                    to: ServiceRequest(
                        method: "POST",
                        path: prefix,
                        query: "ckAPIToken=\(cloud.apiToken)"
                            + "&ckWebAuthToken=\(FixtureCloud.escape(ada.token))",
                        body: try JSONEncoder().encode(["jobID": job]),
                        baseURL: ""
                    )
                )
            ).body
        }
        // Two simultaneous requests do not copy a batch twice.
        async let one = ask()
        async let two = ask()
        let both = try await [one, two].compactMap(\.itemsProcessed.integer)
        #expect(both.allSatisfy { $0 > Int64(first.count) })
        var last = try await ask()
        while last.status == "IN_PROGRESS" { last = try await ask() }
        #expect(last.status == "COMPLETED")
        #expect(last.itemsProcessed == 1001)
        #expect(try await self.names().sorted() == names.sorted())
        // No record was written twice: every change of the zone is one record's first.
        #expect(
            try await cloud.lookUp(["n1000"], in: "Copies", as: ada).records[0].deleted == false
        )
    }

    @Test("A copy that nobody asks about is finished by cleaning, and forgotten a day later")
    func cleaning() async throws {
        try await add((0..<700).map { "n\($0)" })
        let job = try await start().body.jobID
        #expect(try await names().count < 700)
        try await cloud.service.clean()
        #expect(try await names().count == 700)
        #expect(try await status(job).status == "COMPLETED")
        cloud.clock.advance(seconds: 24 * 60 * 60)
        try await cloud.service.clean()
        #expect(try await status(job).serverErrorCode == "NOT_FOUND")
    }

    @Test("Parents and validated targets come before those that need them, over all batches")
    func order() async throws {
        // Half of a chain is in the zone's feed before the records above it.
        let names = (0..<450).map { "n\($0)" }
        try await add(names)
        let (even, odd) = (stride(from: 0, to: 449, by: 2), stride(from: 1, to: 449, by: 2))
        let links = (Array(even) + Array(odd)).map { index -> JSON in
            [
                "operationType": "forceUpdate",
                "record": [
                    "recordName": .string(names[index]), "recordType": "Note",
                    "parent": ["recordName": .string(names[index + 1])],
                ],
            ]
        }
        for start in stride(from: 0, to: links.count, by: 200) {
            _ = try await cloud.modify(as: ada, Array(links[start..<min(start + 200, links.count)]))
        }
        let done = try await copy()
        #expect(done.status == "COMPLETED", "\(done)")
        let first = try await cloud.lookUp(["n0"], in: "Copies", as: ada).records[0]
        #expect(first.parent.recordName == "n1")
    }

    @Test("What the target zone has is never replaced: the copy is refused, or ends")
    func conflicts() async throws {
        try await add((0..<700).map { "n\($0)" })
        try await add(["n5"], in: "Copies")
        let refused = try await start()
        #expect(refused.code == "CONFLICT")
        #expect(refused.reason.contains("'n5'"))
        #expect(try await names() == ["n5"])
        let job = try await start(["excludeRecords": ["n5"]]).body.jobID
        try await add(["n699"], in: "Copies")
        var last = try await status(job)
        while last.status == "IN_PROGRESS" { last = try await status(job) }
        #expect(last.status == "FAILED")
        #expect(last.serverErrorCode == "CONFLICT")
        #expect(last.reason.text?.contains("n699") == true)
        // Complete batches were copied, and stay.
        let left = try await names()
        #expect(Int64(left.count) == 2 + (last.itemsProcessed.integer ?? 0))
    }

    @Test("A zone that goes while records are copied ends the copy")
    func zones() async throws {
        try await add((0..<700).map { "n\($0)" })
        let job = try await start().body.jobID
        for kind in ["delete", "create"] {
            _ = try await cloud.call(
                "zones/modify",
                as: ada,
                [
                    "operations": [
                        [
                            "operationType": .string(kind),
                            "zone": ["zoneID": FixtureCloud.zone("Copies")],
                        ]
                    ]
                ]
            )
        }
        let ended = try await status(job)
        #expect(ended.status == "FAILED")
        #expect(ended.serverErrorCode == "ZONE_NOT_FOUND")
        #expect(try await names() == [])
    }

    @Test("A shared zone is copied into one's own as far as one may read it, and not back")
    func sharing() async throws {
        let bob = try await cloud.addUser("Bob")
        try await add(["root", "private"])
        try await cloud.addZone("Mine", as: bob)
        let participant: JSON = [
            "type": "USER", "permission": "READ_ONLY",
            "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
        ]
        let share: JSON = [
            "operationType": "create",
            "record": [
                "recordName": "share", "recordType": "cloudkit.share",
                "forRecord": ["recordName": "root"], "participants": [participant],
            ],
        ]
        let guid = try await cloud.modify(as: ada, [share]).records[0].shortGUID
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let mine = FixtureCloud.zone("Mine")
        let all: [String: JSON] = [
            "sourceZoneID": zone, "targetZoneID": mine, "excludeRecords": [],
        ]
        #expect(try await start(all, as: bob).code == "ZONE_NOT_FOUND")
        _ = try await cloud.call(
            "records/accept",
            .public,
            as: bob,
            ["shortGUIDs": [["value": guid]]]
        )
        let done = try await copy(all, as: bob)
        #expect(done.status == "COMPLETED")
        #expect(done.itemsTotalEstimate == 1)
        let own = try await cloud.lookUp(["root", "private", "share"], in: "Mine", as: bob).records
        #expect(own[0].recordName == "root" && own[0].fields.title.value == "root")
        #expect(own[1].serverErrorCode == "NOT_FOUND" && own[2].serverErrorCode == "NOT_FOUND")
        _ = try await cloud.modify("Mine", as: bob, [FixtureCloud.note("create", "b")])
        let back = try await start(
            ["sourceZoneID": mine, "targetZoneID": zone, "includeRecords": ["b"]],
            as: bob
        )
        #expect(back.code == "ACCESS_DENIED")
        #expect(try await status(done.jobID, as: ada).serverErrorCode == "NOT_FOUND")
    }

    @Test("A reset ends what is in flight")
    func reset() async throws {
        try await add((0..<700).map { "n\($0)" })
        let job = try await start().body.jobID
        try await cloud.service.resetContainer(FixtureCloud.container)
        #expect(try await status(job).serverErrorCode == "NOT_FOUND")
    }
}
