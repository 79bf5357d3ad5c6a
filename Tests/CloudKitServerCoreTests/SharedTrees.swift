import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// A zone of Ada's with two shared trees, and a record that is not shared.
///
/// Bob writes in the tree `a`, and reads in `c`; Eve reads and writes in the tree `b` alone.
struct SharedTrees: Sendable {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User
    let bob: FixtureCloud.User
    let eve: FixtureCloud.User

    var zoneID: JSON { ["zoneName": "Notes", "ownerRecordName": .string(ada.name)] }

    init(
        configuration: ServiceConfiguration = ServiceConfiguration(),
        storage: (any Storage)? = nil
    ) async throws {
        cloud = try await FixtureCloud(configuration: configuration, storage: storage)
        ada = try await cloud.addUser()
        bob = try await cloud.addUser("Bob")
        eve = try await cloud.addUser("Eve")
        try await cloud.addZone("Notes", as: ada)
        let made = try await cloud.modify(
            as: ada,
            [
                Self.save("create", "a"), Self.save("create", "a1", below: "a"),
                Self.save("create", "a2", below: "a1"), Self.save("create", "b"),
                Self.save("create", "b1", below: "b"), Self.save("create", "c"),
                Self.save("create", "secret"),
            ]
        )
        try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
        try await share("a", with: bob, "READ_WRITE")
        try await share("b", with: eve, "READ_WRITE")
        try await share("c", with: bob, "READ_ONLY")
    }

    /// Shares a record of Ada's and accepts the share as a user.
    func share(_ root: String, with user: FixtureCloud.User, _ permission: JSON) async throws {
        let participant: JSON = [
            "type": "USER", "permission": permission,
            "userIdentity": ["userRecordName": .string(user.name)],
        ]
        let share = try await cloud.modify(
            as: ada,
            [
                [
                    "operationType": "create",
                    "record": [
                        "recordName": .string("share of \(root)"), "recordType": "cloudkit.share",
                        "forRecord": ["recordName": .string(root)], "publicPermission": "NONE",
                        "participants": [participant],
                    ],
                ]
            ]
        ).records[0]
        let response = try await cloud.call(
            "records/accept",
            .public,
            as: user,
            ["shortGUIDs": [["value": share.shortGUID]]]
        )
        try #require(response.body.results[0].participantStatus == "ACCEPTED", "\(response)")
    }

    /// Returns an operation on a Note, with its parent.
    static func save(
        _ kind: String,
        _ name: String,
        below parent: String? = nil,
        _ fields: JSON = [:],
        _ more: [String: JSON] = [:]
    ) -> JSON {
        var record: [String: JSON] = [
            "recordName": .string(name), "recordType": "Note", "fields": fields,
        ]
        if let parent { record["parent"] = ["recordName": .string(parent)] }
        record.merge(more) { $1 }
        return ["operationType": .string(kind), "record": .object(record)]
    }

    /// Returns a field with a reference.
    static func reference(to name: String, _ action: String) -> JSON {
        ["to": ["value": ["recordName": .string(name), "action": .string(action)]]]
    }

    /// Runs operations in the shared zone.
    func modify(
        as user: FixtureCloud.User,
        atomic: Bool = false,
        _ operations: [JSON]
    ) async throws -> [JSON] {
        let body: JSON = [
            "zoneID": zoneID, "atomic": .bool(atomic), "operations": .array(operations),
        ]
        return try await cloud.call("records/modify", .shared, as: user, body).records
    }

    /// Returns the names of the records that a user sees in the zone.
    func seen(by user: FixtureCloud.User) async throws -> Set<String> {
        let body: JSON = ["zones": [["zoneID": zoneID]]]
        let response = try await cloud.call("changes/zone", .shared, as: user, body)
        let records = response.body.zones[0].records.elements
        return Set(records.filter { $0.deleted != true }.compactMap(\.recordName.text))
    }

    /// Returns all records as their owner sees them.
    func everything() async throws -> [JSON] {
        try await cloud.changes(as: ada).records.elements
    }
}
