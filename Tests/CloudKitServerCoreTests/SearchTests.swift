import CloudKitServerCore
import CloudKitWire
import ServerFixtures
import Testing

@Suite("Words in all fields")
struct SearchTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func search(_ comparator: String, _ text: String) async throws -> FixtureCloud.Response
    {
        try await cloud.call(
            "records/query",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "query": [
                    "recordType": "Note",
                    "filterBy": [
                        [
                            "comparator": .string(comparator),
                            "fieldValue": ["value": .string(text), "type": "STRING"],
                        ]
                    ],
                ],
            ]
        )
    }

    private func addNotes() async throws {
        let tags: JSON = ["value": ["green", "Tea"], "type": "STRING_LIST"]
        _ = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("create", "a", ["title": ["value": "Black tea"]]),
                FixtureCloud.note(
                    "create",
                    "b",
                    ["body": ["value": "coffee, black"], "tags": tags]
                ),
                FixtureCloud.note("create", "c", ["title": ["value": "water"], "n": ["value": 1]]),
            ]
        )
    }

    @Test(
        "A filter on words that names no field looks into every searchable one",
        arguments: [
            ("CONTAINS_ANY_TOKENS", "tea", ["a", "b"]),
            ("CONTAINS_ANY_TOKENS", "coffee water", ["b", "c"]),
            ("CONTAINS_ALL_TOKENS", "black tea", ["a", "b"]),
            ("CONTAINS_ALL_TOKENS", "coffee tea water", []),
            ("CONTAINS_ANY_TOKENS", "1", []),
        ]
    )
    func words(comparator: String, text: String, expected: [String]) async throws {
        try await addNotes()
        let found = try await search(comparator, text)
        #expect(found.records.compactMap(\.recordName.text).sorted() == expected, "\(found)")
    }

    @Test("Without a searchable field, and with another comparator, the filter is refused")
    func refusal() async throws {
        try await addNotes()
        #expect(try await search("EQUALS", "tea").reason.contains("names no field"))
        _ = try await cloud.service.importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, body STRING, tags LIST<STRING>, "
                + "n INT64);",
            container: FixtureCloud.container,
            environment: .development
        )
        let refused = try await search("CONTAINS_ANY_TOKENS", "tea")
        #expect(refused.status == 400)
        #expect(refused.reason.contains("SEARCHABLE"))
    }
}
