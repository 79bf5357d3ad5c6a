import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("records/modify")
struct ModifyRecordsTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    private func title(_ text: String) -> JSON { ["title": ["value": .string(text)]] }

    @Test("A created record is returned in full and looks the same when looked up")
    func create() async throws {
        let response = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note(
                    "create",
                    "n1",
                    [
                        "title": ["value": "Milk"],
                        "due": ["value": 1_767_225_600_000, "type": "TIMESTAMP"],
                        "done": ["value": 1],
                        "weight": ["value": 2.5],
                        "blob": ["value": "AAEC", "type": "BYTES"],
                        "tags": ["value": ["a", "b"], "type": "STRING_LIST"],
                        "place": ["value": ["latitude": 51.5, "longitude": -0.1]],
                        "next": ["value": ["recordName": "n2", "action": "NONE"]],
                    ]
                )
            ]
        )
        #expect(response.status == 200)
        let record = try #require(response.records.first)
        #expect(record.recordName == "n1")
        #expect(record.recordType == "Note")
        #expect(record.recordChangeTag == "1")
        #expect(record.deleted == false)
        #expect(record.pluginFields == [:])
        #expect(record.created.userRecordName == .string(ada.name))
        #expect(record.created.timestamp == .int(cloud.clock.milliseconds))
        #expect(record.created.deviceID.text != nil)
        #expect(record.fields.title == ["value": "Milk", "type": "STRING"])
        #expect(record.fields.due == ["value": 1_767_225_600_000, "type": "TIMESTAMP"])
        #expect(record.fields.done == ["value": 1, "type": "INT64"])
        #expect(record.fields.weight == ["value": 2.5, "type": "DOUBLE"])
        #expect(record.fields.blob == ["value": "AAEC", "type": "BYTES"])
        #expect(record.fields.tags == ["value": ["a", "b"], "type": "STRING_LIST"])
        #expect(record.fields.place.type == "LOCATION")
        #expect(record.fields.next.value == ["recordName": "n2", "action": "NONE"])
        #expect(record.zoneID.zoneName == "Notes")
        #expect(try await cloud.lookUp(["n1"], as: ada).records == [record])
    }

    @Test("Updates keep fields that are not sent, replacements clear them")
    func updateAndReplace() async throws {
        let both: JSON = ["title": ["value": "Milk"], "body": ["value": "2 l"]]
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", both)])
        let updated = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("update", "n1", title("Eggs"), tag: "1", type: nil)]
        )
        #expect(updated.records[0].fields.title.value == "Eggs")
        #expect(updated.records[0].fields.body.value == "2 l")
        #expect(updated.records[0].recordChangeTag == "2")
        let cleared = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("update", "n1", ["title": ["value": nil]], tag: "2")]
        )
        #expect(cleared.records[0].fields.keys == ["body"])
        let replaced = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("replace", "n1", title("Tea"), tag: "3")]
        )
        #expect(replaced.records[0].fields.keys == ["title"])
    }

    @Test("Forced operations need no tag and make what is missing")
    func forced() async throws {
        for (kind, name) in [("forceUpdate", "a"), ("forceReplace", "b")] {
            let made = try await cloud.modify(as: ada, [FixtureCloud.note(kind, name, title("1"))])
            #expect(made.records[0].fields.title.value == "1")
            let again = try await cloud.modify(as: ada, [FixtureCloud.note(kind, name, title("2"))])
            #expect(again.records[0].fields.title.value == "2")
        }
        let deleted = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("forceDelete", "never-there"),
                FixtureCloud.note("forceDelete", "a"),
            ]
        )
        #expect(deleted.records.map(\.deleted) == [true, true])
        #expect(deleted.records[1].recordType == nil)
        #expect(try await cloud.lookUp(["a"], as: ada).records[0].serverErrorCode == "NOT_FOUND")
    }

    @Test("A stale tag is refused and changes nothing")
    func staleTag() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", title("Milk"))])
        for kind in ["update", "replace", "delete"] {
            let response = try await cloud.modify(
                as: ada,
                [FixtureCloud.note(kind, "n1", title("Eggs"), tag: "zz")]
            )
            #expect(response.status == 200)
            #expect(response.records[0].serverErrorCode == "CONFLICT")
            #expect(response.records[0].recordName == "n1")
        }
        let found = try await cloud.lookUp(["n1"], as: ada).records[0]
        #expect(found.fields.title.value == "Milk")
        #expect(found.recordChangeTag == "1")
    }

    @Test("Creating what exists is a CONFLICT, updating what does not is NOT_FOUND")
    func existence() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", title("Milk"))])
        let response = try await cloud.modify(
            as: ada,
            atomic: false,
            [FixtureCloud.note("create", "n1"), FixtureCloud.note("update", "n2", tag: "1")]
        )
        #expect(response.records[0].serverErrorCode == "CONFLICT")
        #expect(response.records[0].reason.text?.contains("already exists") == true)
        #expect(response.records[1].serverErrorCode == "NOT_FOUND")
    }

    @Test("An atomic request with one failure changes nothing; the others say ATOMIC_ERROR")
    func atomic() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", title("Milk"))])
        let response = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("create", "n2"), FixtureCloud.note("create", "n1"),
                FixtureCloud.note("create", "n3", ["newField": ["value": "x"]]),
            ]
        )
        #expect(response.status == 200)
        #expect(
            response.records.map(\.serverErrorCode) == ["ATOMIC_ERROR", "CONFLICT", "ATOMIC_ERROR"]
        )
        let found = try await cloud.lookUp(["n1", "n2", "n3"], as: ada)
        #expect(found.records.map(\.serverErrorCode) == [nil, "NOT_FOUND", "NOT_FOUND"])
    }

    @Test("A request that is not atomic keeps what succeeded, in the order given")
    func notAtomic() async throws {
        let response = try await cloud.modify(
            as: ada,
            atomic: false,
            [
                FixtureCloud.note("create", "n1"), FixtureCloud.note("update", "n2", tag: "1"),
                FixtureCloud.note("create", "n3"),
            ]
        )
        #expect(response.records.map(\.serverErrorCode) == [nil, "NOT_FOUND", nil])
        #expect(response.records.map(\.recordName) == ["n1", "n2", "n3"])
    }

    @Test("The default zone refuses atomic requests and works without the word")
    func defaultZone() async throws {
        let refused = try await cloud.modify(
            "_defaultZone",
            as: ada,
            atomic: true,
            [FixtureCloud.note("create", "n1")]
        )
        #expect(refused.status == 400)
        #expect(refused.code == "BAD_REQUEST")
        let response = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [FixtureCloud.note("create", "n1"), FixtureCloud.note("update", "n2", tag: "1")]
        )
        #expect(response.records.map(\.serverErrorCode) == [nil, "NOT_FOUND"])
        #expect(response.records[0].zoneID == nil)
    }

    @Test("A record without a name gets an upper-case UUID")
    func madeName() async throws {
        let response = try await cloud.modify(
            as: ada,
            [["operationType": "create", "record": ["recordType": "Note", "fields": [:]]]]
        )
        let name = try #require(response.records[0].recordName.text)
        #expect(UUID(uuidString: name)?.uuidString == name)
    }

    @Test("Deleting the target of DELETE_SELF references deletes their records, through all levels")
    func cascade() async throws {
        func child(_ name: String, of parent: String) -> JSON {
            FixtureCloud.note(
                "create",
                name,
                ["up": ["value": ["recordName": .string(parent), "action": "DELETE_SELF"]]]
            )
        }
        _ = try await cloud.modify(
            as: ada,
            [
                FixtureCloud.note("create", "top"), child("mid", of: "top"),
                child("leaf", of: "mid"),
                child("loop", of: "loop"), FixtureCloud.note("create", "other"),
            ]
        )
        let before = try await cloud.changes(as: ada)
        let deleted = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "top")])
        #expect(deleted.records.count == 1)
        let changes = try await cloud.changes(as: ada, after: before.syncToken)
        #expect(Set(changes.records.elements.map(\.recordName)) == ["top", "mid", "leaf"])
        #expect(changes.records.elements.allSatisfy { $0.deleted.isTrue })
        let found = try await cloud.lookUp(["leaf", "loop", "other"], as: ada)
        #expect(found.records.map(\.serverErrorCode) == ["NOT_FOUND", nil, nil])
    }

    @Test("A validating reference needs its target and keeps it")
    func validate() async throws {
        let pointer: JSON = ["to": ["value": ["recordName": "n1", "action": "VALIDATE"]]]
        let missing = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n2", pointer)])
        #expect(missing.records[0].serverErrorCode == "VALIDATING_REFERENCE_ERROR")
        let both = [FixtureCloud.note("create", "n2", pointer), FixtureCloud.note("create", "n1")]
        #expect(try await cloud.modify(as: ada, both).records[0].serverErrorCode == nil)
        let kept = try await cloud.modify(as: ada, [FixtureCloud.note("forceDelete", "n1")])
        #expect(kept.records[0].serverErrorCode == "VALIDATING_REFERENCE_ERROR")
        let gone = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("forceDelete", "n1"), FixtureCloud.note("forceDelete", "n2")]
        )
        #expect(gone.records.map(\.deleted) == [true, true])
    }

    @Test(
        "A field's type is fixed by its first value",
        arguments: [
            ["value": 5, "type": "TIMESTAMP"], ["value": 5], ["value": ["x"]],
        ] as [JSON]
    )
    func wrongType(field: JSON) async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "n1", title("Milk"))])
        let response = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n2", ["title": field])]
        )
        #expect(response.records[0].serverErrorCode == "BAD_REQUEST")
        #expect(
            response.records[0].reason.text?.hasPrefix("Invalid value, expected type STRING")
                == true
        )
    }

    @Test("An untagged whole number is taken as DOUBLE where the field is one")
    func wholeDouble() async throws {
        _ = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1", ["x": ["value": 1.5]])]
        )
        let response = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n2", ["x": ["value": 2]])]
        )
        #expect(response.records[0].fields.x.type == "DOUBLE")
    }

    @Test("A record of 1 MB is kept, one byte more is refused and names the record")
    func size() async throws {
        func note(_ bytes: Int) -> JSON {
            FixtureCloud.note("forceReplace", "n1", title(String(repeating: "x", count: bytes)))
        }
        let room = Limits.recordBytes - "title".utf8.count
        for (bytes, code) in [(room - 1, nil), (room, nil), (room + 1, "BAD_REQUEST")]
            as [(Int, JSON)]
        {
            let response = try await cloud.modify(as: ada, [note(bytes)])
            #expect(response.records[0].serverErrorCode == code)
            #expect(response.records[0].recordName == "n1")
        }
    }

    @Test("200 operations are done, 201 are refused as a whole")
    func count() async throws {
        for (count, status) in [(199, 200), (200, 200), (201, 400)] {
            let operations = (0..<count).map { FixtureCloud.note("forceUpdate", "r\($0)") }
            let response = try await cloud.modify(as: ada, operations)
            #expect(response.status == status)
        }
        #expect(try await cloud.lookUp(["r200"], as: ada).records[0].serverErrorCode == "NOT_FOUND")
    }

    @Test("A record may be named once in a request")
    func twice() async throws {
        let response = try await cloud.modify(
            as: ada,
            [FixtureCloud.note("create", "n1"), FixtureCloud.note("forceUpdate", "n1")]
        )
        #expect(response.status == 400)
        #expect(response.reason.contains("'n1'"))
    }

    @Test(
        "A request that cannot be read names the place and changes nothing",
        arguments: [
            #"{"operations":[{"operationType":"force_update","record":{}}]}"#,
            #"{"operations":[{"record":{}}]}"#,
            #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{"#
                + #""recordName":"n9","recordType":"Note","fields":{"x":{"value":1,"type":"MAGIC"}}}}]}"#,
            #"{"operations":["#, "", "[]", "nonsense", #"{"operations":{}}"#,
        ]
    )
    func unreadable(body: String) async throws {
        let response = try await cloud.send("records/modify", as: ada, Data(body.utf8))
        #expect(response.status == 400)
        #expect(response.code == "BAD_REQUEST")
        #expect(response.body.uuid.text != nil)
        #expect(!response.reason.isEmpty)
        #expect(try await cloud.lookUp(["n9"], as: ada).records[0].serverErrorCode == "NOT_FOUND")
    }

    @Test("An error does not repeat all that came")
    func longError() async throws {
        let kind = String(repeating: "x", count: 100_000)
        let body: JSON = ["operations": [["operationType": .string(kind), "record": [:]]]]
        let response = try await cloud.call("records/modify", as: ada, body)
        #expect(response.status == 400)
        #expect(response.reason.contains("operations[0].operationType"))
        #expect(response.reason.count < 2000)
    }

    @Test("Nesting beyond the limit is refused before anything is read")
    func depth() async throws {
        let body = String(repeating: "[", count: 100_000)
        let response = try await cloud.send("records/modify", as: ada, Data(body.utf8))
        #expect(response.status == 400)
        #expect(response.reason.contains("deeper"))
        for (depth, isDeeper) in [(Limits.requestDepth, false), (Limits.requestDepth + 1, true)] {
            let body = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let response = try await cloud.send("records/modify", as: ada, Data(body.utf8))
            #expect(response.status == 400)
            #expect(response.reason.contains("deeper") == isDeeper, "\(depth)")
        }
        // The second half of a character looks like a quote, and hides the rest.
        let hidden = #"{"\#u{2200}\#u{0122}": 1, "operations": "# + body + "}"
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
            let bytes = try #require(hidden.data(using: encoding))
            let response = try await cloud.send("records/modify", as: ada, bytes)
            #expect(response.status == 400)
            #expect(response.reason.contains("UTF-8"))
        }
    }

    @Test("An unknown zone fails the request; a record's own unknown zone fails the record")
    func unknownZone() async throws {
        let whole = try await cloud.modify("Nowhere", as: ada, [FixtureCloud.note("create", "n1")])
        #expect(whole.status == 404)
        #expect(whole.code == "ZONE_NOT_FOUND")
        let mixed = try await cloud.call(
            "records/modify",
            as: ada,
            [
                "zoneID": ["zoneName": "Notes"],
                "operations": [
                    FixtureCloud.note("create", "n1"),
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "n2", "recordType": "Note",
                            "zoneID": ["zoneName": "Nowhere"],
                        ],
                    ],
                ],
            ]
        )
        #expect(mixed.records.map(\.serverErrorCode) == [nil, "ZONE_NOT_FOUND"])
    }

    @Test(
        "Names that break the rules are refused",
        arguments: ["", "_n", "\u{e9}t\u{e9}", "a\nb", String(repeating: "n", count: 256)]
    )
    func names(name: String) async throws {
        let response = try await cloud.modify(as: ada, [FixtureCloud.note("create", name)])
        #expect(response.records[0].serverErrorCode == "BAD_REQUEST")
    }

    @Test("750 owning references to a target are allowed, one more is not")
    func referenceLimit() async throws {
        _ = try await cloud.modify(as: ada, [FixtureCloud.note("create", "hub")])
        let field: JSON = ["up": ["value": ["recordName": "hub", "action": "DELETE_SELF"]]]
        for start in stride(from: 0, to: 750, by: 150) {
            let spokes = (start..<start + 150).map { FixtureCloud.note("create", "s\($0)", field) }
            let response = try await cloud.modify(as: ada, spokes)
            #expect(response.records.allSatisfy { $0.serverErrorCode == nil })
        }
        let tooMany = try await cloud.modify(as: ada, [FixtureCloud.note("create", "s750", field)])
        #expect(tooMany.records[0].serverErrorCode == "BAD_REQUEST")
        #expect(tooMany.records[0].nativeErrorCode == 27)
        let again = try await cloud.modify(as: ada, [FixtureCloud.note("forceUpdate", "s3", field)])
        #expect(again.records[0].serverErrorCode == nil)
    }
}
