import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Schemas")
struct SchemaTests {
    static let text = """
        DEFINE SCHEMA

        CREATE ROLE editor;

        RECORD TYPE Note (
            "___createTime" TIMESTAMP,
            "___createdBy" REFERENCE,
            "___modTime" TIMESTAMP QUERYABLE SORTABLE,
            "___modifiedBy" REFERENCE,
            "___recordID" REFERENCE QUERYABLE,
            done INT64 QUERYABLE,
            due TIMESTAMP SORTABLE,
            photo ASSET,
            secret ENCRYPTED STRING,
            tags LIST<STRING> QUERYABLE,
            title STRING QUERYABLE SORTABLE SEARCHABLE,
            GRANT WRITE TO _creator,
            GRANT CREATE TO _icloud,
            GRANT READ TO _world,
            GRANT READ, WRITE TO editor
        );

        """.replacing("_creator", with: "\"_creator\"").replacing("_icloud", with: "\"_icloud\"")
        .replacing("_world", with: "\"_world\"")

    private func imported(
        _ text: String = text,
        _ environment: ServiceEnvironment = .production
    ) async throws -> FixtureCloud {
        let cloud = try await FixtureCloud(environment: environment)
        _ = try await cloud.service.importSchema(
            text,
            container: FixtureCloud.container,
            environment: environment
        )
        return cloud
    }

    @Test("A schema is printed as it was read")
    func roundTrip() async throws {
        let cloud = try await imported()
        let printed = try await cloud.service.exportSchema(
            container: FixtureCloud.container,
            environment: .production
        )
        #expect(printed == Self.text)
    }

    @Test(
        "Comments, cases and order do not matter",
        arguments: [
            "// c\ndefine schema -- d\nrecord /* e */ type T (a string, b number preferred as int64);",
            "DEFINE SCHEMA RECORD TYPE \"T\" (b NUMBER PREFERRED AS INT64, \"a\" STRING);",
        ]
    )
    func spelling(text: String) throws {
        let plain = "DEFINE SCHEMA RECORD TYPE T (a STRING, b INT64);"
        #expect(try CloudService.schemaChanges(from: plain, to: text).isEmpty)
    }

    @Test(
        "Mistakes are reported with their place",
        arguments: [
            ("RECORD TYPE T (a STRING);", 1, "Was expecting \"DEFINE\""),
            ("DEFINE SCHEMA;", 1, "Was expecting \"RECORD\""),
            ("DEFINE SCHEMA\nRECORD TYPE T (a TEXT);", 2, "There is no type TEXT"),
            ("DEFINE SCHEMA\nRECORD TYPE T (a STRING, a INT64);", 2, "defined twice"),
            ("DEFINE SCHEMA\nRECORD TYPE T (a STRING)\n", 3, "Was expecting \";\""),
            ("DEFINE SCHEMA RECORD TYPE T (\"___recordID\" QUERYABLE);", 1, "QUERYABLE"),
            ("DEFINE SCHEMA RECORD TYPE T (a ASSET QUERYABLE);", 1, "cannot be QUERYABLE"),
            ("DEFINE SCHEMA RECORD TYPE T (a ENCRYPTED STRING QUERYABLE);", 1, "cannot be"),
            ("DEFINE SCHEMA RECORD TYPE T (a STRING, GRANT READ TO boss);", 1, "no role boss"),
            ("DEFINE SCHEMA RECORD TYPE T (\"a STRING);", 1, "never closed"),
            ("DEFINE SCHEMA /* x", 1, "never closed"),
            ("DEFINE SCHEMA RECORD TYPE T (%);", 1, "Encountered '%'"),
        ]
    )
    func mistakes(text: String, line: Int, message: String) {
        #expect {
            try CloudService.validateSchema(text)
        } throws: { error in
            let error = error as? SchemaSyntaxError
            return error?.line == line && error?.message.contains(message) == true
        }
    }

    @Test("Production takes what the schema has and refuses everything else")
    func production() async throws {
        let cloud = try await imported()
        let ada = try await cloud.addUser()
        let fields: JSON = ["title": ["value": "Milk"], "tags": ["value": ["a"]]]
        let response = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [
                FixtureCloud.note("create", "a", fields),
                FixtureCloud.note("create", "b", ["nope": ["value": 1]]),
                FixtureCloud.note("create", "c", type: "Other"),
                FixtureCloud.note("create", "d", ["secret": ["value": "x"]]),
                FixtureCloud.note("create", "e", ["secret": ["value": "x", "isEncrypted": true]]),
                FixtureCloud.note("create", "f", ["title": ["value": "x", "isEncrypted": true]]),
            ]
        )
        #expect(
            response.records.map { $0.serverErrorCode != nil }
                == [false, true, true, true, false, true]
        )
        #expect(response.records[1].reason.text?.contains("in production schema") == true)
        #expect(response.records[4].fields.secret.isEncrypted == true)
        let body: JSON = [
            "query": [
                "recordType": "Note",
                "filterBy": [
                    [
                        "fieldName": "secret", "comparator": "EQUALS",
                        "fieldValue": ["value": "x"],
                    ]
                ],
            ]
        ]
        let query = try await cloud.call("records/query", as: ada, body)
        #expect(query.reason.contains("ENCRYPTED_STRING and cannot be queried"))
    }

    @Test("An index that is added later finds older records; one that is dropped refuses")
    func reindex() async throws {
        let bare = "DEFINE SCHEMA RECORD TYPE Note (n INT64, \"___recordID\" REFERENCE QUERYABLE);"
        let cloud = try await imported(bare, .development)
        let ada = try await cloud.addUser()
        _ = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [
                FixtureCloud.note("create", "a", ["n": ["value": 1]]),
                FixtureCloud.note("create", "b"),
            ]
        )
        func query() async throws -> FixtureCloud.Response {
            try await cloud.call(
                "records/query",
                as: ada,
                ["query": ["recordType": "Note", "sortBy": [["fieldName": "n"]]]]
            )
        }
        #expect(try await query().reason.hasPrefix("Field 'n' is not marked sortable"))
        for (line, names) in [("n INT64 SORTABLE", ["b", "a"]), ("n INT64", [])] {
            _ = try await cloud.service.importSchema(
                "DEFINE SCHEMA RECORD TYPE Note (\(line));",
                container: FixtureCloud.container,
                environment: .development
            )
            #expect(try await query().records.compactMap(\.recordName.text) == names)
        }
    }

    @Test("A list that never had an element takes the type that an import gives it")
    func undeterminedList() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        let empty: JSON = ["tags": ["value": [], "type": "UNKNOWN_LIST"]]
        let saved = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [FixtureCloud.note("create", "a", empty)]
        )
        #expect(saved.records[0].serverErrorCode == nil, "\(saved.body)")
        let text = try await cloud.service.exportSchema(
            container: FixtureCloud.container,
            environment: .development
        )
        let changes = try await cloud.service.importSchema(
            text,
            container: FixtureCloud.container,
            environment: .development
        )
        #expect(changes.allSatisfy { !$0.losesData }, "\(changes)")
        #expect(try await cloud.service.check().findings == [])
        let full: JSON = ["tags": ["value": ["x"]]]
        let update = FixtureCloud.note("forceUpdate", "a", full)
        let again = try await cloud.modify("_defaultZone", as: ada, [update])
        #expect(again.records[0].serverErrorCode == nil, "\(again.body)")
    }

    @Test("A record that is created right after an index was added is in the index")
    func freshIndex() async throws {
        let cloud = try await imported("DEFINE SCHEMA RECORD TYPE Note (n INT64);", .development)
        let ada = try await cloud.addUser()
        func create(_ name: String, _ number: Int) async throws {
            let note = FixtureCloud.note("create", name, ["n": ["value": .int(Int64(number))]])
            #expect(try await cloud.modify("_defaultZone", as: ada, [note]).status == 200)
        }
        try await create("a", 2)
        _ = try await cloud.service.importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (n INT64 SORTABLE);",
            container: FixtureCloud.container,
            environment: .development
        )
        // The service still has the caller of the first request in its cache.
        try await create("b", 1)
        let body: JSON = ["query": ["recordType": "Note", "sortBy": [["fieldName": "n"]]]]
        let found = try await cloud.call("records/query", as: ada, body)
        #expect(found.records.compactMap(\.recordName.text) == ["b", "a"])
    }

    @Test("Deploying copies the schema without data and refuses to lose anything")
    func deploy() async throws {
        let cloud = try await imported(Self.text, .development)
        let planned = try await cloud.service.deploySchema(
            container: FixtureCloud.container,
            isDryRun: true
        )
        #expect(planned.map(\.description) == ["+ ROLE editor", "+ Note: RECORD TYPE Note"])
        let done = try await cloud.service.deploySchema(container: FixtureCloud.container)
        #expect(done == planned)
        #expect(try await cloud.service.deploySchema(container: FixtureCloud.container).isEmpty)
        _ = try await cloud.service.importSchema(
            "DEFINE SCHEMA",
            container: FixtureCloud.container,
            environment: .development
        )
        await #expect(throws: RequestError.self) {
            try await cloud.service.deploySchema(container: FixtureCloud.container)
        }
    }

    @Test("Grants decide what each role may do in the public database")
    func grants() async throws {
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Secret (a STRING QUERYABLE, GRANT CREATE TO "_icloud",
                GRANT READ, WRITE TO "_creator");
            RECORD TYPE Open (a STRING, GRANT READ, CREATE, WRITE TO "_world");
            """
        let cloud = try await imported(text, .development)
        let ada = try await cloud.addUser()
        let bob = try await cloud.addUser("Bob")
        for (kind, user) in [("create", ada), ("forceUpdate", bob)] {
            let response = try await cloud.modify(
                "_defaultZone",
                as: user,
                database: .public,
                [
                    FixtureCloud.note(kind, "s", ["a": ["value": "x"]], type: "Secret"),
                    FixtureCloud.note(kind, "o", ["a": ["value": "x"]], type: "Open"),
                ]
            )
            let isCreator = user.name == ada.name
            #expect(response.records[0].serverErrorCode == (isCreator ? nil : "ACCESS_DENIED"))
            #expect(response.records[1].serverErrorCode == nil)
        }
        for (user, code) in [(ada, nil), (bob, "ACCESS_DENIED")] as [(FixtureCloud.User, JSON)] {
            let found = try await cloud.lookUp(
                ["s"],
                in: "_defaultZone",
                as: user,
                database: .public
            )
            #expect(found.records[0].serverErrorCode == code)
            let body: JSON = [
                "query": [
                    "recordType": "Secret",
                    "filterBy": [
                        "fieldName": "a", "comparator": "EQUALS", "fieldValue": ["value": "x"],
                    ],
                ]
            ]
            let query = try await cloud.call("records/query", .public, as: user, body)
            #expect(query.records.count == (code == nil ? 1 : 0))
        }
        let anyone = try await cloud.modify(
            "_defaultZone",
            as: nil,
            database: .public,
            [FixtureCloud.note("create", "p", type: "Open")]
        )
        #expect(anyone.records[0].serverErrorCode == nil)
    }

    @Test("A field that is called as a system field is one of its own, in indexes and in queries")
    func namesOfSystemFields() async throws {
        let cloud = try await FixtureCloud()
        let ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let own: JSON = [
            "recordName": ["value": "own"], "createdTimestamp": ["value": 7],
            "modifiedUserRecordName": ["value": "own"], "parent": ["value": "own"],
        ]
        // The first record is older than the fields.
        for notes in [[FixtureCloud.note("create", "a")], [FixtureCloud.note("create", "b", own)]] {
            let saved = try await cloud.modify(as: ada, notes)
            #expect(saved.records[0].serverErrorCode == nil, "\(saved.body)")
        }
        #expect(try await cloud.service.check().findings == [])
        for (name, value): (String, JSON) in [("recordName", "own"), ("createdTimestamp", 7)] {
            let response = try await cloud.call(
                "records/query",
                as: ada,
                [
                    "zoneID": FixtureCloud.zone("Notes"),
                    "query": [
                        "recordType": "Note",
                        "filterBy": [
                            [
                                "fieldName": .string(name), "comparator": "EQUALS",
                                "fieldValue": ["value": value],
                            ]
                        ],
                    ],
                ]
            )
            #expect(response.records.map(\.recordName) == ["b"], "\(name): \(response.body)")
        }
    }
}
