import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Limits of shares")
struct ShareLimitTests {
    @Test("A full share lets nobody else in, but for the invited, and its owner can save it")
    func fullShare() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: ada)
        let invitation: JSON = [
            "type": "USER", "permission": "READ_ONLY",
            "userIdentity": ["userRecordName": .string(bob.name)],
        ]
        let share = try await cloud.modify(
            as: ada,
            [
                [
                    "operationType": "create",
                    "record": [
                        "recordName": "share", "recordType": "cloudkit.share",
                        "forRecord": ["recordName": "top"], "publicPermission": "READ_ONLY",
                        "participants": [invitation],
                    ],
                ], SharedTrees.save("create", "top"),
            ]
        ).records[0]
        func accept(as user: FixtureCloud.User) async throws -> JSON {
            let body: JSON = ["shortGUIDs": [["value": share.shortGUID]]]
            return try await cloud.call("records/accept", .public, as: user, body).body.results[0]
        }
        // Together with the owner and Bob these are a hundred.
        for number in 1...98 {
            let guest = try await cloud.addUser("Guest \(number)")
            #expect(try await accept(as: guest).participantStatus == "ACCEPTED")
        }
        let refused = try await accept(as: cloud.addUser("One more"))
        #expect(refused.serverErrorCode == "BAD_REQUEST")
        #expect(refused.reason.text?.hasPrefix("Too many participants") == true, "\(refused)")
        #expect(try await accept(as: bob).participantStatus == "ACCEPTED")
        let full = try await cloud.lookUp(["share"], as: ada).records[0]
        #expect(full.participants.elements.count == 100)
        let record: JSON = [
            "recordName": "share", "recordType": "cloudkit.share",
            "recordChangeTag": full.recordChangeTag, "participants": full.participants,
            "fields": ["cloudkit.title": ["value": "Full"]],
        ]
        let saved = try await cloud.modify(
            as: ada,
            [["operationType": "update", "record": record]]
        ).records[0]
        #expect(saved.serverErrorCode == nil, "\(saved)")
        #expect(saved.participants.elements.count == 100)
    }

    /// Returns a zone with a chain of 101 records, the lowest 100 levels below `top`.
    private static func chain() async throws -> (cloud: FixtureCloud, ada: FixtureCloud.User) {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let links = (1...100).map { number in
            SharedTrees.save("create", "n\(number)", below: number == 1 ? "top" : "n\(number - 1)")
        }
        let made = try await cloud.modify(as: ada, [SharedTrees.save("create", "top")] + links)
        try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
        return (cloud, ada)
    }

    private static func share(_ root: String) -> JSON {
        [
            "operationType": "create",
            "record": [
                "recordName": .string("share of \(root)"), "recordType": "cloudkit.share",
                "forRecord": ["recordName": .string(root)], "publicPermission": "READ_ONLY",
            ],
        ]
    }

    @Test("A hierarchy is not shared that is deeper than participants see, one level less is")
    func deepShare() async throws {
        let (cloud, ada) = try await Self.chain()
        let refused = try await cloud.modify(as: ada, [Self.share("top")]).records[0]
        #expect(refused.serverErrorCode == "BAD_REQUEST")
        #expect(refused.reason.text?.contains("to 100 levels below its top") == true, "\(refused)")
        let shared = try await cloud.modify(as: ada, [Self.share("n1")]).records[0]
        #expect(shared.serverErrorCode == nil, "\(shared)")
        let bob = try await cloud.addUser("Bob")
        let body: JSON = ["shortGUIDs": [["value": shared.shortGUID]]]
        _ = try await cloud.call("records/accept", .public, as: bob, body)
        var device = FeedDevice(user: bob)
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        try await device.sync(cloud, zone)
        #expect(device.names == Set((1...100).map { "n\($0)" } + ["share of n1"]))
    }

    @Test("No record is made or moved where participants of its hierarchy would not see it")
    func deepRecords() async throws {
        let (cloud, ada) = try await Self.chain()
        let other = SharedTrees.save("create", "other")
        let below = SharedTrees.save("create", "below other", below: "other")
        for operation in [Self.share("n1"), other, below] {
            let made = try await cloud.modify(as: ada, [operation]).records[0]
            #expect(made.serverErrorCode == nil, "\(made)")
        }
        let refused = [
            SharedTrees.save("create", "more", below: "n100"),
            SharedTrees.save("forceUpdate", "below other", below: "n100"),
            SharedTrees.save("forceUpdate", "other", below: "n99"),
        ]
        for operation in refused {
            let before = try await cloud.changes(as: ada).records.elements
            let response = try await cloud.modify(as: ada, [operation]).records[0]
            #expect(response.serverErrorCode == "BAD_REQUEST", "\(response)")
            #expect(try await cloud.changes(as: ada).records.elements == before)
        }
        let allowed = [
            SharedTrees.save("forceUpdate", "n100", below: "n99", ["n": ["value": 1]]),
            SharedTrees.save("forceUpdate", "other", below: "n98"),
            SharedTrees.save("forceReplace", "n50"),
            SharedTrees.save("create", "more", below: "n100"),
            SharedTrees.save("create", "deeper", below: "more"),
        ]
        for operation in allowed {
            let response = try await cloud.modify(as: ada, [operation]).records[0]
            #expect(response.serverErrorCode == nil, "\(response)")
        }
    }
}
