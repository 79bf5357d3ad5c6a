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
        _ cloud: TestCloud,
        _ user: TestCloud.User
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
        let cloud = try await TestCloud()
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
}
