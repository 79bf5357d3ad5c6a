import CloudKitServerCore
import CloudKitWire
import ServerFixtures
import Testing

@Suite("Parents")
struct HierarchyTests {
    private func save(
        _ kind: String,
        _ name: String,
        _ more: [String: JSON],
        _ cloud: FixtureCloud,
        _ user: FixtureCloud.User
    ) async throws -> JSON {
        var record: [String: JSON] = ["recordName": .string(name), "recordType": "Note"]
        record.merge(more) { $1 }
        return try await cloud.modify(
            as: user,
            [["operationType": .string(kind), "record": .object(record)]]
        ).records[0]
    }

    @Test("A parent stays through updates that do not name it, and goes when it is removed")
    func removal() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        _ = try await save("create", "root", [:], cloud, ada)
        let parent: JSON = ["recordName": "root"]
        let child = try await save("create", "child", ["parent": parent], cloud, ada)
        #expect(child.parent.recordName == "root")
        for kept in [[:], ["parent": .null], ["removesParent": false]] as [[String: JSON]] {
            let saved = try await save("forceUpdate", "child", kept, cloud, ada)
            #expect(saved.parent.recordName == "root")
        }
        let held = try await save("forceDelete", "root", [:], cloud, ada)
        #expect(held.serverErrorCode == "VALIDATING_REFERENCE_ERROR")
        let orphan = try await save("forceUpdate", "child", ["removesParent": true], cloud, ada)
        #expect(orphan.parent == nil)
        #expect(try await save("forceDelete", "root", [:], cloud, ada).deleted == true)
        #expect(try await cloud.lookUp(["child"], as: ada).records[0].parent == nil)
    }

    /// Returns a user with a zone.
    private func world(
        _ configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws -> (cloud: FixtureCloud, ada: FixtureCloud.User) {
        let cloud = try await FixtureCloud(configuration: configuration)
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        return (cloud, ada)
    }

    private func note(
        _ name: String,
        below parent: String? = nil,
        _ fields: JSON = [:],
        kind: JSON = "create"
    ) -> JSON {
        var record: [String: JSON] = [
            "recordName": .string(name), "recordType": "Note", "fields": fields,
        ]
        if let parent { record["parent"] = ["recordName": .string(parent)] }
        return ["operationType": kind, "record": .object(record)]
    }

    private func codes(_ response: FixtureCloud.Response) -> [String?] {
        response.records.map(\.serverErrorCode.text)
    }

    // MARK: Batches

    @Test("What lies above a record is made before it, wherever it stands in the request")
    func order() async throws {
        for isAtomic in [true, false] {
            let (cloud, ada) = try await world()
            let response = try await cloud.modify(
                as: ada,
                atomic: isAtomic,
                [
                    note("leaf", below: "mid"), note("other"), note("mid", below: "top"),
                    note("top"),
                ]
            )
            #expect(response.records.map(\.recordName) == ["leaf", "other", "mid", "top"])
            #expect(codes(response) == [nil, nil, nil, nil])
            let feed = try await cloud.changes(as: ada).records.elements
            #expect(feed.map(\.recordName) == ["top", "mid", "leaf", "other"])
        }
    }

    @Test("A circle of new parents needs an atomic request, and one of known ones none")
    func circle() async throws {
        let (cloud, ada) = try await world()
        let circle = [note("a", below: "b"), note("b", below: "a")]
        let refused = try await cloud.modify(as: ada, atomic: false, circle)
        #expect(codes(refused) == ["INTERNAL_ERROR", "VALIDATING_REFERENCE_ERROR"])
        #expect(codes(try await cloud.modify(as: ada, atomic: true, circle)) == [nil, nil])
        let known = [
            note("a", below: "b", kind: "forceUpdate"), note("b", below: "a", kind: "forceUpdate"),
        ]
        #expect(codes(try await cloud.modify(as: ada, atomic: false, known)) == [nil, nil])
        let deletions = ["a", "b"].map { FixtureCloud.note("forceDelete", $0) }
        let gone = try await cloud.modify(as: ada, atomic: false, deletions)
        #expect(gone.records.map(\.deleted) == [true, true])
    }

    @Test("The children of a record that is not made fail by what holds for both, or for its lack")
    func causes() async throws {
        let (cloud, ada) = try await world(ServiceConfiguration(userQuotaBytes: 1000))
        let text = String(repeating: "x", count: 2000)
        let full = try await cloud.modify(
            as: ada,
            atomic: false,
            [
                note("grandchild", below: "child"), note("child", below: "large"),
                note("large", ["text": ["value": .string(text)]]),
            ]
        )
        #expect(codes(full) == ["QUOTA_EXCEEDED", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"])
        #expect(full.records[0].reason.text?.contains("'child'") == true)
        let orphan = try await cloud.modify(
            as: ada,
            atomic: false,
            [note("top", below: "missing"), note("mid", below: "top"), note("leaf", below: "mid")]
        )
        #expect(
            codes(orphan) == ["VALIDATING_REFERENCE_ERROR", "INTERNAL_ERROR", "INTERNAL_ERROR"]
        )
        let bad = try await cloud.modify(
            as: ada,
            atomic: false,
            [note("bad", ["no good": ["value": 1]]), note("child", below: "bad")]
        )
        #expect(codes(bad) == ["BAD_REQUEST", "VALIDATING_REFERENCE_ERROR"])
        let atomic = try await cloud.modify(
            as: ada,
            [note("child", below: "bad"), note("bad", ["no good": ["value": 1]])]
        )
        #expect(codes(atomic) == ["ATOMIC_ERROR", "BAD_REQUEST"])
        #expect(try await cloud.changes(as: ada).records.elements.isEmpty)
    }

    @Test("A record that is there takes children, though a change to it is refused")
    func refusedChange() async throws {
        let (cloud, ada) = try await world()
        _ = try await cloud.modify(as: ada, [note("top")])
        let response = try await cloud.modify(
            as: ada,
            atomic: false,
            [note("child", below: "top"), note("top")]
        )
        #expect(codes(response) == [nil, "CONFLICT"])
    }

    @Test("A record is not deleted with children whose own deletion is refused")
    func refusedDeletion() async throws {
        let (cloud, ada) = try await world()
        let made = try await cloud.modify(
            as: ada,
            [note("top"), note("mid", below: "top"), note("leaf", below: "mid"), note("other")]
        )
        let stale = FixtureCloud.note("delete", "leaf", tag: made.records[0].recordChangeTag)
        let names = ["top", "mid", "leaf"]
        let deletions = names.dropLast().map { FixtureCloud.note("forceDelete", $0) }
        let other = FixtureCloud.note("forceDelete", "other")
        let held = try await cloud.modify(as: ada, atomic: false, deletions + [stale, other])
        #expect(
            codes(held) == [
                "VALIDATING_REFERENCE_ERROR", "VALIDATING_REFERENCE_ERROR", "CONFLICT", nil,
            ]
        )
        let kept = try await cloud.lookUp(names + ["other"], as: ada)
        #expect(codes(kept) == [nil, nil, nil, "NOT_FOUND"])
        let leaf = FixtureCloud.note("forceDelete", "leaf")
        let gone = try await cloud.modify(as: ada, atomic: false, deletions + [leaf])
        #expect(gone.records.map(\.deleted) == [true, true, true])
        let feed = try await cloud.changes(as: ada).records.elements
        #expect(feed.map(\.recordName).suffix(3) == ["leaf", "mid", "top"])
    }
}
