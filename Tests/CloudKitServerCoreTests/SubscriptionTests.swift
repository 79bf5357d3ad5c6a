import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Subscriptions, users and deprecated endpoints")
struct SubscriptionTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func subscription(_ id: String, firesOn: JSON = ["create"]) -> JSON {
        [
            "subscriptionID": .string(id), "subscriptionType": "query", "firesOn": firesOn,
            "query": ["recordType": "Note"], "notificationInfo": ["alertBody": "New note"],
        ]
    }

    private func modify(_ kind: String, _ subscription: JSON) async throws -> JSON {
        try await cloud.call(
            "subscriptions/modify",
            as: ada,
            ["operations": [["operationType": .string(kind), "subscription": subscription]]]
        ).body.subscriptions[0]
    }

    private func list() async throws -> [JSON] {
        try await cloud.call("subscriptions/list", as: ada, method: "GET")
            .body.subscriptions.elements
    }

    @Test("A subscription is made, found, replaced and deleted")
    func life() async throws {
        let made = try await modify("create", subscription("s1"))
        #expect(made.subscriptionID == "s1")
        #expect(made.notificationInfo.alertBody == "New note")
        #expect(try await list().map(\.subscriptionID) == ["s1"])
        _ = try await modify("update", subscription("s1", firesOn: ["delete"]))
        let found = try await cloud.call(
            "subscriptions/lookup",
            as: ada,
            ["subscriptions": [["subscriptionID": "s1"], ["subscriptionID": "s2"]]]
        )
        #expect(found.body.subscriptions[0].firesOn == ["delete"])
        #expect(found.body.subscriptions[1].serverErrorCode == "NOT_FOUND")
        #expect(try await modify("delete", ["subscriptionID": "s1"]) == ["subscriptionID": "s1"])
        #expect(try await list().isEmpty)
    }

    @Test("What is watched already under another name is refused; under its own it is kept")
    func uniqueness() async throws {
        _ = try await modify("create", subscription("s1"))
        #expect(try await modify("create", subscription("s1")).serverErrorCode == nil)
        let rival = try await modify("create", subscription("s2"))
        #expect(rival.serverErrorCode == "INTERNAL_ERROR")
        let other = try await modify("create", subscription("s3", firesOn: ["create", "update"]))
        #expect(other.serverErrorCode == nil)
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            ["subscriptionID": "s"], ["subscriptionID": "s", "subscriptionType": "query"],
            ["subscriptionID": "s", "subscriptionType": "zone"],
            ["subscriptionID": "", "subscriptionType": "database"],
        ] as [JSON]
    )
    func nonsense(subscription: JSON) async throws {
        #expect(try await modify("create", subscription).serverErrorCode == "BAD_REQUEST")
        #expect(try await list().isEmpty)
    }

    @Test("Users are found by address and by name; unknown ones are left out")
    func discover() async throws {
        _ = try await cloud.service.addUser(
            container: FixtureCloud.container,
            name: "Grace Hopper",
            emailAddress: "Grace@example.com"
        )
        let response = try await cloud.call(
            "users/discover",
            .public,
            as: ada,
            [
                "lookupInfos": [
                    ["emailAddress": "grace@example.com"], ["emailAddress": "no@example.com"],
                    ["userRecordName": .string(ada.name)],
                ]
            ]
        )
        let names = response.body.users.elements.map(\.nameComponents.givenName)
        #expect(names == ["Grace", "Ada"])
        let elsewhere = try await cloud.call("users/discover", as: ada, ["lookupInfos": []])
        #expect(elsewhere.reason.contains("'privatedb'"))
        let older = try await cloud.call("users/current", .public, as: ada, method: "GET")
        #expect(older.body.firstName == "Ada")
        #expect(older.body.lastName == "Lovelace")
    }

    @Test("The deprecated change feeds respond in their own shapes")
    func older() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a")])
        let records = try await cloud.call(
            "records/changes",
            as: ada,
            ["zoneID": ["zoneName": "Notes"]]
        )
        #expect(records.records.map(\.recordName) == ["a"])
        #expect(records.body.moreComing == false)
        let expired = try await cloud.call(
            "records/changes",
            as: ada,
            ["zoneID": ["zoneName": "Notes"], "syncToken": "AAAA"]
        )
        #expect(expired.status == 400)
        let refused = try await cloud.call(
            "records/changes",
            as: ada,
            ["zoneID": ["zoneName": "_defaultZone"]]
        )
        #expect(refused.reason == "cannot get changes in default zone")
        let zones = try await cloud.call("zones/changes", as: ada)
        #expect(zones.body.zones.elements.map(\.zoneID.zoneName) == ["Notes"])
        #expect(zones.body.metaSyncToken.text != nil)
    }
}
