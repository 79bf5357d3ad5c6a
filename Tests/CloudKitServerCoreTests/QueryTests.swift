import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("records/query")
struct QueryTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func add(_ notes: [(name: String, fields: JSON)]) async throws {
        for start in stride(from: 0, to: notes.count, by: 200) {
            let part = notes[start..<min(start + 200, notes.count)]
            let response = try await cloud.modify(
                as: ada,
                part.map { FixtureCloud.note("create", $0.name, $0.fields) }
            )
            for record in response.records { #expect(record.serverErrorCode == nil, "\(record)") }
        }
    }

    private func query(
        _ filters: [JSON] = [],
        sort: [JSON] = [],
        limit: Int64 = 200,
        marker: JSON = .null,
        more: [String: JSON] = [:]
    ) async throws -> FixtureCloud.Response {
        var body: [String: JSON] = [
            "zoneID": ["zoneName": "Notes"],
            "query": ["recordType": "Note", "filterBy": .array(filters), "sortBy": .array(sort)],
            "resultsLimit": .int(limit), "continuationMarker": marker,
        ]
        body.merge(more) { $1 }
        return try await cloud.call("records/query", as: ada, .object(body))
    }

    private func names(_ response: FixtureCloud.Response) -> [String] {
        response.records.compactMap(\.recordName.text)
    }

    private func filter(
        _ field: String,
        _ comparator: String,
        _ value: JSON,
        type: JSON = .null,
        distance: JSON = .null
    ) -> JSON {
        [
            "fieldName": .string(field), "comparator": .string(comparator),
            "fieldValue": ["value": value, "type": type], "distance": distance,
        ]
    }

    /// A row of the table of comparators.
    struct Row: CustomTestStringConvertible, Sendable {
        var field: String
        var comparator: String
        var value: JSON
        var type: JSON = .null
        var distance: JSON = .null
        var expected: Set<String>
        var testDescription: String { "\(field) \(comparator) \(value)" }
    }

    static let rows: [Row] = [
        Row(field: "n", comparator: "EQUALS", value: 2, expected: ["b"]),
        Row(field: "n", comparator: "NOT_EQUALS", value: 2, expected: ["a", "c", "d", "none"]),
        Row(field: "n", comparator: "LESS_THAN", value: 2, expected: ["a", "d"]),
        Row(field: "n", comparator: "LESS_THAN_OR_EQUALS", value: 2, expected: ["a", "b", "d"]),
        Row(field: "n", comparator: "GREATER_THAN", value: 2, expected: ["c"]),
        Row(field: "n", comparator: "GREATER_THAN_OR_EQUALS", value: 2, expected: ["b", "c"]),
        Row(
            field: "n",
            comparator: "IN",
            value: [1, 3, 1],
            type: "INT64_LIST",
            expected: ["a", "c"]
        ),
        Row(
            field: "n",
            comparator: "NOT_IN",
            value: [1, 3],
            type: "INT64_LIST",
            expected: ["b", "d", "none"]
        ),
        Row(field: "n", comparator: "IN", value: [], type: "INT64_LIST", expected: []),
        Row(field: "x", comparator: "LESS_THAN", value: 0, expected: ["a"]),
        Row(field: "x", comparator: "GREATER_THAN_OR_EQUALS", value: 0.5, expected: ["b", "c"]),
        Row(field: "s", comparator: "EQUALS", value: "milk", expected: ["a"]),
        Row(field: "s", comparator: "BEGINS_WITH", value: "mi", expected: ["a", "b"]),
        Row(
            field: "s",
            comparator: "NOT_BEGINS_WITH",
            value: "mi",
            expected: ["c", "d", "none"]
        ),
        Row(field: "s", comparator: "GREATER_THAN", value: "milk", expected: ["b", "c", "d"]),
        Row(
            field: "s",
            comparator: "CONTAINS_ALL_TOKENS",
            value: "MINT tea",
            expected: ["b"]
        ),
        Row(
            field: "s",
            comparator: "CONTAINS_ANY_TOKENS",
            value: "tea milk",
            expected: ["a", "b", "c"]
        ),
        Row(field: "t", comparator: "EQUALS", value: 5, type: "TIMESTAMP", expected: ["a"]),
        Row(field: "t", comparator: "GREATER_THAN", value: 5, type: "TIMESTAMP", expected: ["b"]),
        Row(field: "l", comparator: "LIST_CONTAINS", value: "red", expected: ["a", "b"]),
        Row(
            field: "l",
            comparator: "NOT_LIST_CONTAINS",
            value: "red",
            expected: ["c", "d", "none"]
        ),
        Row(
            field: "l",
            comparator: "LIST_CONTAINS_ANY",
            value: ["red", "blue"],
            type: "STRING_LIST",
            expected: ["a", "b", "c"]
        ),
        Row(
            field: "l",
            comparator: "NOT_LIST_CONTAINS_ANY",
            value: ["red", "blue"],
            type: "STRING_LIST",
            expected: ["d", "none"]
        ),
        Row(
            field: "l",
            comparator: "LIST_CONTAINS_ALL",
            value: ["red", "green"],
            type: "STRING_LIST",
            expected: ["a"]
        ),
        Row(
            field: "l",
            comparator: "NOT_LIST_CONTAINS_ALL",
            value: ["red", "green"],
            type: "STRING_LIST",
            expected: ["b", "c", "d", "none"]
        ),
        Row(
            field: "l",
            comparator: "LIST_MEMBER_BEGINS_WITH",
            value: "re",
            expected: ["a", "b"]
        ),
        Row(
            field: "l",
            comparator: "NOT_LIST_MEMBER_BEGINS_WITH",
            value: "re",
            expected: ["c", "d", "none"]
        ),
        Row(
            field: "r",
            comparator: "EQUALS",
            value: ["recordName": "a", "action": "NONE"],
            expected: ["b"]
        ),
        Row(
            field: "p",
            comparator: "NEAR",
            value: ["latitude": 51.5, "longitude": -0.12],
            distance: 5000,
            expected: ["a"]
        ),
        Row(
            field: "p",
            comparator: "NEAR",
            value: ["latitude": 51.5, "longitude": -0.12],
            distance: 400_000,
            expected: ["a", "b"]
        ),
        Row(field: "recordName", comparator: "EQUALS", value: "c", expected: ["c"]),
        Row(
            field: "___recordID",
            comparator: "EQUALS",
            value: ["recordName": "c"],
            expected: ["c"]
        ),
        Row(
            field: "___recordID",
            comparator: "IN",
            value: [["recordName": "c"], ["recordName": "a"]],
            type: "REFERENCE_LIST",
            expected: ["a", "c"]
        ),
    ]

    @Test("Every comparator finds what it should and nothing else", arguments: rows)
    func comparators(row: Row) async throws {
        try await add([
            (
                "a",
                [
                    "n": ["value": 1], "x": ["value": -0.5], "s": ["value": "milk"],
                    "t": ["value": 5, "type": "TIMESTAMP"],
                    "l": ["value": ["red", "green", "read"]],
                    "p": ["value": ["latitude": 51.5, "longitude": -0.1]],
                ]
            ),
            (
                "b",
                [
                    "n": ["value": 2], "x": ["value": 0.5], "s": ["value": "mint Tea"],
                    "t": ["value": 6, "type": "TIMESTAMP"], "l": ["value": ["red"]],
                    "r": ["value": ["recordName": "a", "action": "NONE"]],
                    "p": ["value": ["latitude": 48.85, "longitude": 2.35]],
                ]
            ),
            (
                "c",
                [
                    "n": ["value": 3], "x": ["value": 1e300], "s": ["value": "tea"],
                    "l": ["value": ["blue"]],
                    "p": ["value": ["latitude": 51.5, "longitude": 120]],
                ]
            ),
            ("d", ["n": ["value": -4], "s": ["value": "\u{1F375}"], "l": ["value": ["black"]]]),
            ("none", [:]),
        ])
        let response = try await query([
            filter(row.field, row.comparator, row.value, type: row.type, distance: row.distance)
        ])
        #expect(response.status == 200, "\(response.reason)")
        #expect(names(response).sorted() == row.expected.sorted())
    }

    @Test("Filters are joined by AND; a single one may stand without its array")
    func several() async throws {
        var notes: [(String, JSON)] = []
        for number in 0..<20 {
            let parity = JSON.int(Int64(number % 2))
            let value = JSON.int(Int64(number))
            notes.append(("r\(number)", ["a": ["value": parity], "b": ["value": value]]))
        }
        try await add(notes)
        let both = try await query([filter("a", "EQUALS", 1), filter("b", "LESS_THAN", 6)])
        #expect(names(both).sorted() == ["r1", "r3", "r5"])
        let single = try await cloud.call(
            "records/query",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "query": ["recordType": "Note", "filterBy": filter("b", "EQUALS", 7)],
            ]
        )
        #expect(names(single) == ["r7"])
    }

    @Test(
        "Orders by several keys, missing values first, with pages of any size",
        arguments: [1, 3, 200]
    )
    func order(limit: Int64) async throws {
        var notes: [(String, JSON)] = []
        for number in 0..<30 {
            var fields: [String: JSON] = ["k": ["value": .int(Int64(number / 7 * -1))]]
            if number % 5 != 0 { fields["s"] = ["value": .string("s\(number % 4)")] }
            notes.append(("r\(number)", .object(fields)))
        }
        try await add(notes)
        for (down, up) in [(true, false), (false, true), (false, false)] {
            var found: [JSON] = []
            var marker = JSON.null
            repeat {
                let response = try await query(
                    sort: [
                        ["fieldName": "s", "ascending": .bool(!down)],
                        ["fieldName": "k", "ascending": .bool(!up)],
                    ],
                    limit: limit,
                    marker: marker
                )
                found += response.records
                marker = response.body.continuationMarker
            } while marker != .null
            #expect(Set(found.map(\.recordName)).count == 30)
            let keys = found.map {
                ($0.fields.s.value.text ?? "", $0.fields.k.value.integer ?? 0)
            }
            for (first, second) in zip(keys, keys.dropFirst()) {
                if first.0 == second.0 {
                    #expect(up ? first.1 >= second.1 : first.1 <= second.1)
                } else {
                    #expect(down ? first.0 > second.0 : first.0 < second.0)
                }
            }
        }
    }

    @Test("Pages stay exact while other records come and go")
    func stablePages() async throws {
        try await add((0..<20).map { ("r\($0 + 10)", ["k": ["value": .int(Int64($0))]]) })
        let first = try await query(sort: [["fieldName": "k"]], limit: 5)
        _ = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("forceDelete", "r14"), FixtureCloud.note("forceDelete", "r16"),
                FixtureCloud.note("create", "early", ["k": ["value": -1]]),
                FixtureCloud.note("create", "late", ["k": ["value": 100]]),
            ]
        )
        var found = names(first)
        var marker = first.body.continuationMarker
        while marker != .null {
            let page = try await query(sort: [["fieldName": "k"]], limit: 5, marker: marker)
            found += names(page)
            marker = page.body.continuationMarker
        }
        let expected = (10..<30).filter { $0 != 16 }.map { "r\($0)" } + ["late"]
        #expect(found == expected)
    }

    @Test("Two filters and an order page through the right records in the right order")
    func filteredOrder() async throws {
        func key(_ number: Int) -> Int64 { Int64(number * 37 % 60) }
        var notes: [(String, JSON)] = []
        for number in 0..<60 {
            let group = JSON.int(Int64(number % 3))
            notes.append(
                ("r\(number)", ["a": ["value": group], "k": ["value": .int(key(number))]])
            )
        }
        try await add(notes)
        var keys: [Int64] = []
        var marker = JSON.null
        repeat {
            let page = try await query(
                [filter("a", "EQUALS", 1), filter("k", "GREATER_THAN", 9)],
                sort: [["fieldName": "k", "ascending": false]],
                limit: 4,
                marker: marker
            )
            keys += page.records.compactMap(\.fields.k.value.integer)
            marker = page.body.continuationMarker
        } while marker != .null
        let members: [Int] = (0..<60).filter { $0 % 3 == 1 }
        let expected: [Int64] = members.map(key).filter { $0 > 9 }.sorted(by: >)
        #expect(keys == expected)
    }

    @Test("A marker of another query is refused")
    func foreignMarker() async throws {
        try await add((0..<5).map { ("r\($0)", ["k": ["value": 1]]) })
        let marker = try await query(limit: 2).body.continuationMarker
        let other = try await query([filter("k", "EQUALS", 1)], limit: 2, marker: marker)
        #expect(other.code == "BAD_REQUEST")
        let forged = try await query(limit: 2, marker: "AAAA")
        #expect(forged.code == "BAD_REQUEST")
    }

    @Test("A field that older records lack can be ordered by, and they come first")
    func laterField() async throws {
        try await add([("old", ["a": ["value": 1]])])
        try await add([("new", ["a": ["value": 2], "later": ["value": 7]])])
        let response = try await query(sort: [["fieldName": "later"]])
        #expect(names(response) == ["old", "new"])
    }

    @Test("Deleted and changed records leave the index")
    func maintenance() async throws {
        try await add([("a", ["k": ["value": 1]]), ("b", ["k": ["value": 1]])])
        _ = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("forceUpdate", "a", ["k": ["value": 2]]),
                FixtureCloud.note("forceDelete", "b"),
            ]
        )
        #expect(try await query([filter("k", "EQUALS", 1)]).records.isEmpty)
        #expect(names(try await query([filter("k", "EQUALS", 2)])) == ["a"])
    }

    @Test("desiredKeys selects fields, numbersAsStrings writes numbers as text")
    func shape() async throws {
        try await add([("a", ["k": ["value": 9_007_199_254_740_993], "s": ["value": "x"]])])
        let response = try await query(more: ["desiredKeys": ["k"], "numbersAsStrings": true])
        #expect(
            response.records[0].fields == ["k": ["value": "9007199254740993", "type": "INT64"]]
        )
        let none = try await query(more: ["desiredKeys": []])
        #expect(none.records[0].fields == [:])
    }

    @Test("zoneWide searches all zones of the database in one order")
    func zoneWide() async throws {
        try await cloud.addZone("Other", as: ada)
        for (zone, name, key) in [("Notes", "a", 1), ("Other", "b", 2), ("Notes", "c", 3)] {
            _ = try await cloud.modify(
                zone,
                as: ada,
                [FixtureCloud.note("create", name, ["k": ["value": .int(Int64(key))]])]
            )
        }
        var found: [String] = []
        var marker = JSON.null
        repeat {
            let response = try await cloud.call(
                "records/query",
                as: ada,
                [
                    "zoneWide": true, "resultsLimit": 1, "continuationMarker": marker,
                    "query": ["recordType": "Note", "sortBy": [["fieldName": "k"]]],
                ]
            )
            found += names(response)
            marker = response.body.continuationMarker
        } while marker != .null
        #expect(found == ["a", "b", "c"])
    }

    @Test("What CloudKit refuses is refused with its words")
    func refusals() async throws {
        try await add([
            (
                "a",
                [
                    "n": ["value": 1], "l": ["value": ["x"]], "s": ["value": "x"],
                    "d": ["value": 0.5],
                ]
            )
        ])
        let cases: [(JSON, String)] = [
            (filter("n", "IN", [1]), "BadRequestException: Unexpected input"),
            (filter("n", "EQUALS", "x"), "Invalid value, expected type INT64"),
            (filter("n", "NEAR", 1), "Field 'n' has a value type of INT64"),
            (filter("l", "EQUALS", "x"), "Field 'l' has a value type of STRING_LIST"),
            (filter("s", "LIST_CONTAINS", "x"), "Field 's' has a value type of STRING"),
            (filter("n", "CONTAINS_ALL_TOKENS", "x"), "Field 'n' is not marked searchable"),
            (filter("nope", "EQUALS", 1), "Field 'nope' not found in Note"),
            (filter("n", "EQUALS", nil), "The filter on 'n' has no value"),
            (filter("n", "SORT_OF", 1), "BadRequestException: unexpected input"),
            (filter("s", "BEGINS_WITH", 1), "Invalid value, expected type STRING"),
        ]
        for (filter, reason) in cases {
            let response = try await query([filter])
            #expect(response.status == 400)
            #expect(response.reason.hasPrefix(reason), "\(response.reason)")
        }
        let type = try await cloud.call("records/query", as: ada, ["query": ["recordType": "Nope"]])
        #expect(type.reason == "Did not find record type: Nope")
        let sort = try await query(sort: [["fieldName": "l"]])
        #expect(sort.reason.hasPrefix("Field 'l' is not marked sortable"))
    }

    @Test("Without an index on names, a type cannot be listed, as in iCloud")
    func strictNames() async throws {
        let cloud = try await FixtureCloud(
            configuration: ServiceConfiguration(indexesSystemFields: false)
        )
        let ada = try await cloud.addUser()
        _ = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [FixtureCloud.note("create", "a", ["n": ["value": 1]])]
        )
        let response = try await cloud.call(
            "records/query",
            as: ada,
            ["query": ["recordType": "Note"]]
        )
        #expect(response.reason.hasPrefix("Field 'recordName' is not marked queryable"))
        #expect(response.reason.contains(#""___recordID" REFERENCE QUERYABLE"#))
    }
}
