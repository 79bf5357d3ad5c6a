import CloudKitWebClient
import CloudKitWire
import Foundation
import Support
import Testing

@Suite("Responses are matched by the names in them")
struct ResponseOrderTests {
    /// A call about several items, and the way in which the test simulates its response.
    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The member of the response.
        let member: String
        /// The JSON of an item of the response, by its name.
        let response: @Sendable (String) -> String
        /// The call, which returns the names in the response after sorting.
        let call: @Sendable (WebClient, [String]) async throws -> [String?]
    }

    private static let record: @Sendable (String) -> String = {
        #"{"recordName":"\#($0)","recordType":"T"}"#
    }
    private static let zone: @Sendable (String) -> String = {
        #"{"zoneID":{"zoneName":"\#($0)","ownerRecordName":"_me"}}"#
    }
    private static let subscription: @Sendable (String) -> String = {
        #"{"subscriptionID":"\#($0)","subscriptionType":"database"}"#
    }
    private static let share: @Sendable (String) -> String = {
        #"{"shortGUID":{"value":"\#($0)"},"containerIdentifier":"c","zoneID":{"zoneName":"Z"},"#
            + #""share":{"recordName":"s","recordType":"cloudkit.share"}}"#
    }

    private static func recordNames(
        ofTokensFor names: [String],
        _ client: WebClient
    ) async throws -> [String?] {
        let files = names.map {
            UploadAssetsRequest.Token(recordName: $0, recordType: "T", fieldName: "f")
        }
        let tokens = try await client.uploadTokens(for: files, zoneID: .defaultZone, in: .private)
        for token in tokens { #expect(token.url == "http://h/\(token.recordName)") }
        return tokens.map(\.recordName)
    }

    static let kinds = [
        Kind(testDescription: "records/lookup", member: "records", response: record) {
            try await $0.lookup($1, zoneID: .defaultZone, in: .private)
                .map { try $0.get().recordName }
        },
        Kind(testDescription: "records/modify", member: "records", response: record) {
            client,
            names in
            let operations = names.map {
                RecordOperation(.forceDelete, WireRecord(recordName: $0))
            }
            return try await client.modifyRecords(.init(operations: operations), in: .private)
                .records.map { try $0.get().recordName }
        },
        Kind(testDescription: "zones/lookup", member: "zones", response: zone) { client, names in
            let zones = names.map { WireZoneID(zoneName: $0) }
            return try await client.lookupZones(.init(zones: zones), in: .private)
                .zones.map { try $0.get().zoneID.zoneName }
        },
        Kind(testDescription: "zones/modify", member: "zones", response: zone) { client, names in
            let operations = names.map {
                ModifyZonesRequest.Operation(.create, WireZoneID(zoneName: $0))
            }
            return try await client.modifyZones(.init(operations: operations), in: .private)
                .zones.map { try $0.get().zoneID.zoneName }
        },
        Kind(
            testDescription: "changes/zone",
            member: "zones",
            response: { #"{"zoneID":{"zoneName":"\#($0)"},"records":[],"syncToken":"t"}"# }
        ) { client, names in
            let zones = names.map { ZoneChangesRequest.Zone(zoneID: WireZoneID(zoneName: $0)) }
            return try await client.zoneChanges(.init(zones: zones), in: .private)
                .zones.map { try $0.get().zoneID.zoneName }
        },
        Kind(
            testDescription: "subscriptions/lookup",
            member: "subscriptions",
            response: subscription
        ) { client, names in
            let items = names.map { LookupSubscriptionsRequest.Item(subscriptionID: $0) }
            return try await client.lookupSubscriptions(.init(subscriptions: items), in: .private)
                .subscriptions.map { try $0.get().subscriptionID }
        },
        Kind(
            testDescription: "subscriptions/modify",
            member: "subscriptions",
            response: subscription
        ) { client, names in
            let operations = names.map {
                ModifySubscriptionsRequest.Operation(
                    .create,
                    WireSubscription(subscriptionID: $0, subscriptionType: .database)
                )
            }
            return try await client.modifySubscriptions(.init(operations: operations), in: .private)
                .subscriptions.map { try $0.get().subscriptionID }
        },
        Kind(
            testDescription: "assets/upload",
            member: "tokens",
            response: { #"{"recordName":"\#($0)","fieldName":"f","url":"http://h/\#($0)"}"# }
        ) {
            try await recordNames(ofTokensFor: $1, $0)
        },
        Kind(testDescription: "records/resolve", member: "results", response: share) {
            try await $0.resolveShares(.init(shortGUIDs: $1.map { .init(value: $0) }))
                .results.map { try $0.get().shortGUID?.value }
        },
        Kind(testDescription: "records/accept", member: "results", response: share) {
            try await $0.acceptShares(.init(shortGUIDs: $1.map { .init(value: $0) }))
                .results.map { try $0.get().shortGUID?.value }
        },
    ]

    private static func client(_ member: String, _ responses: [String]) -> WebClient {
        let body = #"{"\#(member)":[\#(responses.joined(separator: ","))]}"#
        return WebClient(
            url: "http://cloud.invalid",
            container: "c",
            environment: .development,
            credentials: WebCredentials(apiToken: "t"),
            transport: ScriptedTransport { _, _ in .ok(body) }
        )
    }

    @Test("Another order is put right", arguments: kinds)
    func reordered(_ kind: Kind) async throws {
        for answered in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
            let client = Self.client(kind.member, answered.map(kind.response))
            #expect(try await kind.call(client, ["a", "b", "c"]) == ["a", "b", "c"])
        }
        // An item that was requested twice is returned twice.
        let client = Self.client(kind.member, ["b", "a", "a"].map(kind.response))
        #expect(try await kind.call(client, ["a", "b", "a"]) == ["a", "b", "a"])
    }

    @Test("One left out, a foreign one, and one that came twice are no result", arguments: kinds)
    func misfits(_ kind: Kind) async throws {
        for answered in [
            ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "d"], ["c", "a", "d"], ["a", "b", "b"],
            ["b", "b", "c"], [],
        ] {
            let client = Self.client(kind.member, answered.map(kind.response))
            let error = await #expect(throws: WebClientError.self, "\(answered)") {
                _ = try await kind.call(client, ["a", "b", "c"])
            }
            guard case .unexpectedResponse(200, let message, nil) = error else {
                Issue.record("\(answered): \(String(describing: error))")
                continue
            }
            #expect(
                message.contains("results for 3") || message.contains("No result is about"),
                "\(message)"
            )
        }
    }

    private func modify(_ names: [String?], answered: [String]) async throws -> [String?] {
        var found: [String?] = []
        try await Self.client("records", answered).modify(
            names.map { RecordOperation(.create, WireRecord(recordName: $0, recordType: "T")) },
            zoneID: .defaultZone,
            atomic: nil,
            in: .private
        ) { responses in
            found += responses.map { response in
                switch response {
                case .success(let record): record.recordName
                case .failure(let error): error.recordName
                }
            }
        }
        return found
    }

    @Test("What the service names takes the results that are left, in their order")
    func unnamed() async throws {
        let record = Self.record
        for (names, answered, found) in [
            ([nil, "a", nil], ["new1", "a", "new2"], ["new1", "a", "new2"]),
            ([nil, "a", nil], ["a", "new1", "new2"], ["new1", "a", "new2"]),
            ([nil, "a", nil], ["new1", "new2", "a"], ["new1", "a", "new2"]),
            (["b", nil, "a"], ["a", "b", "new1"], ["b", "new1", "a"]),
            ([nil, nil], ["new2", "new1"], ["new2", "new1"]),
        ] as [([String?], [String], [String?])] {
            let order = try await modify(names, answered: answered.map(record))
            #expect(order == found, "\(names) answered \(answered)")
        }
        for (names, answered) in [
            ([nil, "a"], ["a", "a"]), ([nil, nil], ["new", "new"]),
            ([nil, "a"], ["new1", "new2"]),
            (["a", nil], ["b", "b"]),
        ] as [([String?], [String])] {
            await #expect(throws: WebClientError.self, "\(names) answered \(answered)") {
                _ = try await modify(names, answered: answered.map(record))
            }
        }
    }

    @Test("An error without a name is about what was asked at its place")
    func namelessErrors() async throws {
        let record = Self.record
        let error = #"{"serverErrorCode":"CONFLICT","reason":"no"}"#
        #expect(try await modify(["a", "b"], answered: [error, record("b")]) == [nil, "b"])
        let responses = [record("c"), error, record("a")]
        #expect(try await modify(["a", "b", "c"], answered: responses) == ["a", nil, "c"])
        // It is ambiguous which of the two it is.
        await #expect(throws: WebClientError.self) {
            _ = try await modify(["a", "b", "c"], answered: [error, record("c"), record("a")])
        }
        #expect(try await modify([nil, "a"], answered: [record("a"), error]) == [nil, "a"])
    }

    @Test("Zones of the same name are distinguished by their owners")
    func owners() async throws {
        func find(_ asked: [String?], answered: [String]) async throws -> [String?] {
            let responses = answered.map {
                #"{"zoneID":{"zoneName":"Z","ownerRecordName":"\#($0)"}}"#
            }
            let zones = asked.map { WireZoneID(zoneName: "Z", ownerRecordName: $0) }
            return try await Self.client("zones", responses)
                .lookupZones(.init(zones: zones), in: .shared)
                .zones.map { try $0.get().zoneID.ownerRecordName }
        }
        #expect(try await find(["_1", "_2"], answered: ["_2", "_1"]) == ["_1", "_2"])
        #expect(try await find([nil, "_2"], answered: ["_2", "_me"]) == ["_me", "_2"])
        #expect(
            try await find([nil, "_2"], answered: ["_2", "__defaultOwner__"])
                == ["__defaultOwner__", "_2"]
        )
        #expect(
            try await find(["__defaultOwner__", "_2"], answered: ["_2", "_me"]) == ["_me", "_2"]
        )
        await #expect(throws: WebClientError.self) {
            _ = try await find(["_1", "_2"], answered: ["_1", "_3"])
        }
    }

    @Test("Records of the same name in two zones are distinguished by the responses about them")
    func zones() async throws {
        func record(_ zone: String?, _ tag: String) -> String {
            let zone = zone.map { #","zoneID":{"zoneName":"\#($0)","ownerRecordName":"_me"}"# }
            return #"{"recordName":"a","recordType":"T","recordChangeTag":"\#(tag)"\#(zone ?? "")}"#
        }
        func tags(_ asked: [String?], answered: [String]) async throws -> [String?] {
            let operations = asked.map {
                RecordOperation(
                    .forceUpdate,
                    WireRecord(
                        recordName: "a",
                        recordType: "T",
                        zoneID: $0.map { WireZoneID(zoneName: $0) }
                    )
                )
            }
            return try await Self.client("records", answered)
                .modifyRecords(
                    .init(operations: operations, zoneID: WireZoneID(zoneName: "Z")),
                    in: .private
                )
                .records.map { try $0.get().recordChangeTag }
        }
        let (y, z) = (record("Y", "y"), record("Z", "z"))
        for asked in [["Y", "Z"], ["Y", nil]] {
            #expect(try await tags(asked, answered: [z, y]) == ["y", "z"])
            #expect(try await tags(asked, answered: [y, z]) == ["y", "z"])
            #expect(try await tags(asked, answered: [record(nil, "z"), y]) == ["y", "z"])
            // Items without a name are in the order of the request.
            #expect(
                try await tags(asked, answered: [record(nil, "1"), record(nil, "2")]) == ["1", "2"]
            )
            for foreign in [[y, y], [record("X", "x"), z]] {
                await #expect(throws: WebClientError.self) {
                    _ = try await tags(asked, answered: foreign)
                }
            }
        }
    }
}
