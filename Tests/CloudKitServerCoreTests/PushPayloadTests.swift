import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("What a notification says")
struct PushPayloadTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func push(_ info: JSON, _ fields: JSON) async throws -> JSON {
        let listener = try await cloud.listen(as: ada)
        let made = try await cloud.subscribe(
            "s",
            "query",
            as: ada,
            ["query": ["recordType": "Note"], "firesOn": ["create"], "notificationInfo": info]
        )
        #expect(made.serverErrorCode == nil, "\(made)")
        let response = try await cloud.modify(as: ada, [FixtureCloud.note("create", "a", fields)])
        #expect(response.records[0].serverErrorCode == nil, "\(response)")
        return try await listener.next().body
    }

    @Test("Texts, keys and everything else stand where Apple's push service has them")
    func alert() async throws {
        let push = try await push(
            [
                "title": "T", "titleLocalizationKey": "TK", "titleLocalizationArgs": ["count"],
                "subtitle": "S", "subtitleLocalizationKey": "SK",
                "subtitleLocalizationArgs": ["none", "title"], "alertBody": "B",
                "alertLocalizationKey": "BK", "alertLocalizationArgs": ["title"],
                "alertActionLocalizationKey": "AK", "alertLaunchImage": "L", "soundName": "ping",
                "category": "C", "shouldBadge": true, "shouldSendContentAvailable": true,
                "shouldSendMutableContent": true,
            ],
            ["title": ["value": "Milk"], "count": ["value": 3]]
        )
        #expect(
            push.aps == [
                "alert": [
                    "title": "T", "title-loc-key": "TK", "title-loc-args": ["3"], "subtitle": "S",
                    "subtitle-loc-key": "SK", "subtitle-loc-args": ["", "Milk"], "body": "B",
                    "loc-key": "BK", "loc-args": ["Milk"], "action-loc-key": "AK",
                    "launch-image": "L",
                ],
                "sound": "ping", "badge": 1, "category": "C", "content-available": 1,
                "mutable-content": 1,
            ]
        )
    }

    @Test("A silent subscription pushes nothing to show")
    func silent() async throws {
        let push = try await push(["shouldSendContentAvailable": true], [:])
        #expect(push.aps == ["content-available": 1])
    }

    @Test("The fields that were asked for come along, if they are of a type that may")
    func fields() async throws {
        let push = try await push(
            ["additionalFields": ["text", "number", "when", "where", "who", "bytes", "none"]],
            [
                "text": ["value": "Milk"], "number": ["value": 1.5],
                "when": ["value": 1000, "type": "TIMESTAMP"],
                "where": ["value": ["latitude": 1.5, "longitude": 2.5], "type": "LOCATION"],
                "who": ["value": ["recordName": "r", "action": "NONE"], "type": "REFERENCE"],
                "bytes": ["value": "AAAA", "type": "BYTES"],
            ]
        )
        #expect(
            push.ck.qry.af == [
                "text": "Milk", "number": 1.5, "when": 1000, "who": "r",
                "where": ["latitude": 1.5, "longitude": 2.5],
            ]
        )
        #expect(push.ck.p == nil)
    }

    @Test("What is too large is left out, and the notification says so", arguments: [true, false])
    func pruning(hasSmallAlert: Bool) async throws {
        let text = String(repeating: "x", count: 5000)
        let push = try await push(
            [
                "additionalFields": ["title"], "alertBody": "New",
                "alertLocalizationArgs": hasSmallAlert ? [] : ["title"],
            ],
            ["title": ["value": .string(text)]]
        )
        #expect(push.ck.p == 1)
        #expect(push.ck.qry.rid == "a")
        #expect(push.ck.qry.af == nil)
        #expect(push.aps.alert.body == (hasSmallAlert ? "New" : nil))
    }

    @Test("The badge counts what was pushed to the token; a collapse key keeps the newest")
    func badge() async throws {
        let listener = try await cloud.listen(as: ada)
        let info: JSON = ["shouldBadge": true, "collapseIDKey": "one"]
        try await cloud.subscribe(
            "s",
            "query",
            as: ada,
            ["query": ["recordType": "Note"], "firesOn": ["create"], "notificationInfo": info]
        )
        for name in ["a", "b", "c"] {
            _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", name)])
        }
        let waiting = try await listener.waiting()
        #expect(waiting.map(\.ck.qry.rid) == ["c"])
        #expect(waiting.map(\.aps.badge) == [3])
    }
}
