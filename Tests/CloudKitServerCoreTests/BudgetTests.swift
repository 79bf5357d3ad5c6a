import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("What one request may cost", .overHTTP)
struct BudgetTests {
    private static func world(
        _ budget: RequestBudget
    ) async throws -> (cloud: FixtureCloud, ada: FixtureCloud.User) {
        var configuration = ServiceConfiguration()
        configuration.budget = budget
        let cloud = try await FixtureCloud(configuration: configuration)
        return (cloud, try await cloud.addUser())
    }

    /// Adds notes: `n` counts up, `k` has a value for every ten of them, `s` marks every seventeenth.
    private static func add(
        _ count: Int,
        _ cloud: FixtureCloud,
        _ ada: FixtureCloud.User
    ) async throws {
        for start in stride(from: 0, to: count, by: 100) {
            let notes = (start..<min(start + 100, count)).map { number -> JSON in
                let fields: JSON = [
                    "n": ["value": .int(Int64(number))], "k": ["value": .int(Int64(number / 10))],
                    "x": ["value": .int(Int64(9 - number % 10))],
                    "s": ["value": number % 17 == 0 ? "marked" : "plain"],
                ]
                return FixtureCloud.note("create", "n\(number)", fields)
            }
            let response = try await cloud.modify("_defaultZone", as: ada, notes)
            try #require(response.records.allSatisfy { $0.serverErrorCode == nil }, "\(response)")
        }
    }

    private static func sort(_ field: String, _ ascending: Bool = true) -> JSON {
        ["fieldName": .string(field), "ascending": .bool(ascending)]
    }

    private static let unmarked: JSON = [
        "fieldName": "s", "comparator": "NOT_EQUALS", "fieldValue": ["value": "plain"],
    ]

    /// Returns the number of pages of a query, and the names in order.
    private static func pages(
        _ query: JSON,
        _ cloud: FixtureCloud,
        _ ada: FixtureCloud.User
    ) async throws -> (count: Int, names: [String]) {
        var names: [String] = []
        var marker: JSON = nil
        var count = 0
        repeat {
            let body: JSON = [
                "query": query, "continuationMarker": marker, "resultsLimit": 7,
            ]
            let response = try await cloud.call("records/query", as: ada, body)
            try #require(response.status == 200, "\(response)")
            names += response.records.compactMap(\.recordName.text)
            marker = response.body.continuationMarker
            count += 1
        } while marker != nil && count < 1000
        return (count, names)
    }

    @Test(
        "A walk in order ends early at its limit, goes on where it ended, and passes over nothing",
        arguments: [["n"], ["k", "x"], ["k", "n"]],
        [true, false]
    )
    func pages(fields: [String], ascending: Bool) async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(entriesPerPage: 16))
        try await Self.add(200, cloud, ada)
        var expected = (0..<200).filter { $0 % 17 == 0 }
        expected.sort { first, second in
            let key = { (number: Int) -> [Int] in
                fields.map { ["n": number, "k": number / 10, "x": 9 - number % 10][$0] ?? 0 }
            }
            return key(first).lexicographicallyPrecedes(key(second)) == ascending
        }
        let query: JSON = [
            "recordType": "Note", "filterBy": [Self.unmarked],
            "sortBy": .array(fields.map { Self.sort($0, ascending) }),
        ]
        let found = try await Self.pages(query, cloud, ada)
        #expect(found.names == expected.map { "n\($0)" })
        // No page visits more entries than the limit and those that share a first key.
        #expect(found.count >= 200 / 32)
    }

    @Test("What has to be sorted before it can be returned is refused beyond a limit")
    func sorting() async throws {
        let (cloud, ada) = try await Self.world(
            RequestBudget(entriesPerPage: 20, entriesPerSort: 90)
        )
        try await Self.add(100, cloud, ada)
        // All have the same first key, so that the first result is known only after the last record.
        let fields: JSON = ["one": ["value": 1]]
        for start in stride(from: 0, to: 100, by: 50) {
            _ = try await cloud.modify(
                "_defaultZone",
                as: ada,
                (start..<start + 50).map { FixtureCloud.note("forceUpdate", "n\($0)", fields) }
            )
        }
        let query: JSON = [
            "recordType": "Note", "filterBy": [Self.unmarked],
            "sortBy": [Self.sort("one"), Self.sort("n")],
        ]
        let response = try await cloud.call("records/query", as: ada, ["query": query])
        #expect(response.status == 400)
        #expect(response.body.nativeErrorCode == 27)
        #expect(response.reason.contains("more than 90 records"))
    }

    @Test("The queries of a batch share one budget")
    func batch() async throws {
        let (cloud, ada) = try await Self.world(
            RequestBudget(entriesPerPage: 1000, entriesPerSort: 250)
        )
        try await Self.add(100, cloud, ada)
        let query: JSON = [
            "query": [
                "recordType": "Note", "filterBy": [Self.unmarked], "sortBy": [Self.sort("n")],
            ]
        ]
        func ask(_ count: Int) async throws -> FixtureCloud.Response {
            let body: JSON = ["batch": .array(Array(repeating: query, count: count))]
            return try await cloud.call("internal/records/query/batch", as: ada, body)
        }
        #expect(try await ask(2).status == 200)
        let refused = try await ask(3)
        #expect(refused.status == 400)
        #expect(refused.reason.hasPrefix("Query 2 of the batch"))
    }

    @Test("Filters, sort keys and desired keys are counted")
    func counts() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget())
        try await Self.add(1, cloud, ada)
        func status(_ filters: Int, _ sorts: Int, _ keys: Int) async throws -> Int {
            let filter: JSON = [
                "fieldName": "n", "comparator": "EQUALS", "fieldValue": ["value": 0],
            ]
            let query: JSON = [
                "recordType": "Note", "filterBy": .array(Array(repeating: filter, count: filters)),
                "sortBy": .array(Array(repeating: Self.sort("n"), count: sorts)),
            ]
            let names = JSON.array((0..<keys).map { .string("k\($0)") })
            let body: JSON = ["query": query, "desiredKeys": names]
            return try await cloud.call("records/query", as: ada, body).status
        }
        #expect(try await status(100, 16, 2000) == 200)
        #expect(try await status(101, 1, 1) == 400)
        #expect(try await status(1, 17, 1) == 400)
        #expect(try await status(1, 1, 2001) == 400)
        let names = JSON.array((0..<2001).map { .string("k\($0)") })
        let lookup: JSON = ["records": [["recordName": "n0"]], "desiredKeys": names]
        #expect(try await cloud.call("records/lookup", as: ada, lookup).status == 400)
        let save: JSON = [
            "operations": [FixtureCloud.note("forceUpdate", "n0")], "desiredKeys": names,
        ]
        #expect(try await cloud.call("records/modify", as: ada, save).status == 400)
    }

    @Test("A name without end refuses the request, and nothing is done with it")
    func names() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget())
        try await cloud.addZone("Notes", as: ada)
        // Letters that must be normalized before they can be compared.
        let name = String(repeating: "e\u{301}", count: 100_000)
        let asked: [(String, JSON)] = [
            ("records/lookup", ["records": [["recordName": .string(name)]]]),
            ("records/modify", ["operations": [FixtureCloud.note("create", name)]]),
            ("records/query", ["query": ["recordType": .string(name)]]),
            ("zones/lookup", ["zones": [FixtureCloud.zone(name)]]),
            (
                "assets/rereference",
                ["assets": [["recordName": .string(name), "fieldName": "photo"]]]
            ),
            ("subscriptions/lookup", ["subscriptions": [["subscriptionID": .string(name)]]]),
            (
                "records/copy/start",
                [
                    "sourceZoneID": ["zoneName": "Notes"], "excludeRecords": [],
                    "targetZoneID": ["zoneName": "_defaultZone"], "targetRootName": .string(name),
                ]
            ),
        ]
        for (endpoint, body) in asked {
            let response = try await cloud.call(endpoint, as: ada, body)
            let code = response.code ?? response.body.zones[0].serverErrorCode.text
            #expect(code == "BAD_REQUEST", "\(endpoint)")
        }
        let people: [(String, JSON)] = [
            ("records/resolve", ["shortGUIDs": [["value": .string(name)]]]),
            ("users/discover", ["lookupInfos": [["emailAddress": .string(name)]]]),
            ("users/lookup/email", ["users": [["emailAddress": .string(name)]]]),
        ]
        for (endpoint, body) in people {
            let response = try await cloud.call(endpoint, .public, as: ada, body)
            #expect(response.body.nativeErrorCode == 27, "\(endpoint) \(response)")
        }
    }

    @Test("A deletion that would take too much along is refused, and changes nothing")
    func rows() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(rows: 4000))
        try await cloud.addZone("Notes", as: ada)
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "top")])
        for start in stride(from: 0, to: 600, by: 50) {
            let notes = (start..<start + 50).map { number -> JSON in
                let action: JSON = "DELETE_SELF"
                return FixtureCloud.note(
                    "create",
                    "n\(number)",
                    ["to": ["value": ["recordName": "top", "action": action]]]
                )
            }
            let made = try await cloud.modify(as: ada, notes)
            #expect(made.records.allSatisfy { $0.serverErrorCode == nil })
        }
        let response = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "top")])
        #expect(response.status == 400)
        #expect(response.body.nativeErrorCode == 27)
        let names = ["top", "n0", "n599"]
        let kept = try await cloud.lookUp(names, as: ada)
        #expect(kept.records.allSatisfy { $0.deleted == false })
    }

    @Test("An acceptance that is more than a request may do changes nothing")
    func acceptance() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(rows: 400))
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: ada)
        // Records that are newly shared with an existing participant are listed for them, one by one.
        var links: [JSON] = []
        for root in ["small", "large"] {
            let participant: JSON = [
                "type": "USER", "permission": "READ_ONLY",
                "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
            ]
            let share: JSON = [
                "recordType": "cloudkit.share", "forRecord": ["recordName": .string(root)],
                "participants": [participant],
            ]
            let operations: [JSON] = [
                FixtureCloud.note("create", root), ["operationType": "create", "record": share],
            ]
            links.append(try await cloud.modify(as: ada, operations).records[1].shortGUID)
        }
        for start in stride(from: 0, to: 300, by: 20) {
            let notes = (start..<start + 20).map { number -> JSON in
                let record: JSON = [
                    "recordName": .string("n\(number)"), "recordType": "Note",
                    "parent": ["recordName": "large"],
                ]
                return ["operationType": "create", "record": record]
            }
            let made = try await cloud.modify(as: ada, notes)
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
        }
        func accept(_ links: [JSON]) async throws -> FixtureCloud.Response {
            let body: JSON = ["shortGUIDs": .array(links.map { ["value": $0] })]
            return try await cloud.call("records/accept", .public, as: bob, body)
        }
        func names() async throws -> Set<String> {
            let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
            let asked: [JSON] = ["small", "large", "n0"].map { ["recordName": .string($0)] }
            let body: JSON = ["zoneID": zone, "records": .array(asked)]
            let response = try await cloud.call("records/lookup", .shared, as: bob, body)
            let shown = response.records.filter { $0.serverErrorCode == nil }
            return Set(shown.compactMap(\.recordName.text))
        }
        #expect(try await accept([links[0]]).status == 200)
        #expect(try await names() == ["small"])
        let refused = try await accept([links[1]])
        #expect(refused.status == 400)
        #expect(refused.body.nativeErrorCode == 27)
        #expect(try await names() == ["small"])
        let resolved = try await cloud.call(
            "records/resolve",
            .public,
            as: bob,
            ["shortGUIDs": [["value": links[1]]]]
        )
        #expect(resolved.body.results[0].participantStatus == "INVITED")
    }

    @Test("A zone's changes that cost more than a request may are an error, not half a response")
    func changes() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(rows: 400))
        let bob = try await cloud.addUser("Bob")
        try await cloud.addZone("Notes", as: ada)
        let participant: JSON = [
            "type": "USER", "permission": "READ_ONLY",
            "userIdentity": ["lookupInfo": ["userRecordName": .string(bob.name)]],
        ]
        let share: JSON = [
            "recordType": "cloudkit.share", "forRecord": ["recordName": "root"],
            "participants": [participant],
        ]
        let operations: [JSON] = [
            FixtureCloud.note("create", "root"), ["operationType": "create", "record": share],
        ]
        let link = try await cloud.modify(as: ada, operations).records[1].shortGUID
        let accepted = try await cloud.call(
            "records/accept",
            .public,
            as: bob,
            ["shortGUIDs": [["value": link]]]
        )
        #expect(accepted.status == 200)
        for start in stride(from: 0, to: 300, by: 20) {
            let notes = (start..<start + 20).map { number -> JSON in
                let record: JSON = [
                    "recordName": .string("n\(number)"), "recordType": "Note",
                    "parent": ["recordName": "root"],
                ]
                return ["operationType": "create", "record": record]
            }
            let made = try await cloud.modify(as: ada, notes)
            try #require(made.records.allSatisfy { $0.serverErrorCode == nil }, "\(made)")
        }
        let zone: JSON = ["zoneName": "Notes", "ownerRecordName": .string(ada.name)]
        let asked: JSON = ["zones": [["zoneID": zone]], "resultsLimit": 200]
        let response = try await cloud.call("changes/zone", .shared, as: bob, asked)
        #expect(response.status == 400)
        #expect(response.body.nativeErrorCode == 27)
    }

    @Test("A list has as many index entries as elements, and each counts")
    func entries() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(rows: 2000))
        func save(_ count: Int) async throws -> FixtureCloud.Response {
            let list = JSON.array((0..<count).map { .int(Int64($0)) })
            let note = FixtureCloud.note("forceUpdate", "n\(count)", ["list": ["value": list]])
            return try await cloud.modify("_defaultZone", as: ada, [note])
        }
        #expect(try await save(1500).records[0].serverErrorCode == nil)
        let refused = try await save(2000)
        #expect(refused.status == 400)
        #expect(refused.body.nativeErrorCode == 27)
    }

    @Test("A request that takes too long is ended, and changes nothing")
    func time() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(milliseconds: 5000))
        try await Self.add(400, cloud, ada)
        let query: JSON = [
            "recordType": "Note", "filterBy": [Self.unmarked], "sortBy": [Self.sort("n")],
        ]
        cloud.clock.hurry(milliseconds: 1000)
        let slow = try await cloud.call("records/query", as: ada, ["query": query])
        let saved = try await cloud.modify(
            "_defaultZone",
            as: ada,
            (0..<200).map { FixtureCloud.note("forceUpdate", "n\($0)", ["n": ["value": 1]]) }
        )
        cloud.clock.hurry(milliseconds: 0)
        #expect(slow.status == 503 && slow.code == "TRY_AGAIN_LATER")
        #expect(saved.status == 503 && saved.code == "TRY_AGAIN_LATER")
        let kept = try await cloud.lookUp(["n0"], in: "_defaultZone", as: ada)
        #expect(kept.records[0].fields.n.value == 0)
    }

    @Test("A request makes the schema grow by so many types and fields")
    func growth() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(newTypes: 3, newFields: 5))
        try await cloud.addZone("Notes", as: ada)
        func save(_ types: Int, _ fields: Int) async throws -> [JSON] {
            let operations = (0..<types).map { type -> JSON in
                let values = (0..<fields).map { ("t\(type)f\($0)", ["value": 1] as JSON) }
                let record = JSON.object(Dictionary(uniqueKeysWithValues: values))
                let name: JSON = .string("T\(types)x\(fields)x\(type)")
                return FixtureCloud.note("create", "\(types)-\(fields)-\(type)", record, type: name)
            }
            return try await cloud.modify(as: ada, atomic: false, operations).records
        }
        #expect(try await save(3, 0).allSatisfy { $0.serverErrorCode == nil })
        #expect(try await save(1, 5).allSatisfy { $0.serverErrorCode == nil })
        let types = try await save(4, 0)
        #expect(types.map(\.serverErrorCode) == [nil, nil, nil, "BAD_REQUEST"])
        #expect(types[3].nativeErrorCode == 27)
        let fields = try await save(2, 4)
        #expect(fields.map(\.serverErrorCode) == [nil, "BAD_REQUEST"])
    }

    @Test("The marker of a page that ended early reveals nothing of the record at its end")
    func marker() async throws {
        let (cloud, ada) = try await Self.world(RequestBudget(entriesPerPage: 3))
        let eve = try await cloud.addUser("Eve")
        let schema = """
            DEFINE SCHEMA
            RECORD TYPE Letter (
                body STRING QUERYABLE SORTABLE,
                GRANT READ, WRITE TO "_creator", GRANT CREATE TO "_icloud"
            );
            """
        _ = try await cloud.service.importSchema(
            schema,
            container: FixtureCloud.container,
            environment: .development
        )
        let letters = (0..<6).map { number -> JSON in
            let fields: JSON = ["body": ["value": .string("confidential \(number)")]]
            return FixtureCloud.note("create", "l\(number)", fields, type: "Letter")
        }
        let made = try await cloud.call(
            "records/modify",
            .public,
            as: ada,
            ["operations": .array(letters)]
        )
        #expect(made.records.allSatisfy { $0.serverErrorCode == nil })
        let query: JSON = ["recordType": "Letter", "sortBy": [Self.sort("body")]]
        let response = try await cloud.call("records/query", .public, as: eve, ["query": query])
        #expect(response.records.isEmpty)
        let marker = try #require(response.body.continuationMarker.text)
        let bytes = try #require(Data(base64Encoded: marker))
        #expect(bytes.range(of: Data("confidential".utf8)) == nil)
    }
}
