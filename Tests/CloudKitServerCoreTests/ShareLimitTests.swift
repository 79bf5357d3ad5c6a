import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Limits of shares")
struct ShareLimitTests {
    @Test("A full share lets nobody else in, but for the invited, and its owner can save it")
    func fullShare() async throws {
        let cloud = try await TestCloud()
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
        func accept(as user: TestCloud.User) async throws -> JSON {
            let body: JSON = ["shortGUIDs": [["value": share.shortGUID]]]
            return try await cloud.call("records/accept", .public, as: user, body).body.results[0]
        }
        // With the owner and Bob these are a hundred.
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
}
