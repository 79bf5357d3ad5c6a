import CloudKitServerCore
import CloudKitServerSQLite
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("Push")
struct PushTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
    }

    /// Returns a query subscription to notes.
    private func notes(
        _ firesOn: [JSON] = ["create", "update", "delete"],
        filter: JSON = [],
        _ more: [String: JSON] = [:]
    ) -> [String: JSON] {
        var subscription = more
        subscription["query"] = ["recordType": "Note", "filterBy": filter]
        subscription["firesOn"] = .array(firesOn)
        return subscription
    }

    private func note(_ kind: String, _ name: String, title: String = "") -> JSON {
        FixtureCloud.note(kind, name, ["title": ["value": .string(title)]])
    }

    private func save(
        _ operations: JSON...,
        in zone: String = "Notes",
        client: String? = nil
    ) async throws {
        let query = client.map { "&clientId=\($0)" } ?? ""
        let response = try await cloud.modify(zone, as: ada, query: query, operations)
        for record in response.records { #expect(record.serverErrorCode == nil, "\(record)") }
    }

    private func read(_ queries: [JSON]) -> [String] {
        queries.map {
            let query = $0.ck.qry
            return "\(query.sid.text ?? "") \(query.rid.text ?? "") \(query.fo.integer ?? 0)"
        }
    }

    @Test("A query subscription reports what happened to each record that it matches")
    func query() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes())
        try await save(note("create", "a"), note("create", "b"))
        try await save(note("forceUpdate", "a", title: "x"))
        try await save(note("forceDelete", "b"))
        #expect(read(try await listener.waiting()) == ["s a 1", "s b 1", "s a 2", "s b 3"])
        let first = try await listener.next().body
        #expect(first.ck.cid == .string(FixtureCloud.container))
        #expect(first.ck.ckuserid == .string(ada.name))
        #expect(first.ck.qry.zid == "Notes")
        #expect(first.ck.qry.zoid == .string(ada.name))
        #expect(first.ck.qry.dbs == 2)
        #expect(first.ck.nid.text?.count == 36)
        #expect(read(try await listener.waiting()) == ["s b 1", "s a 2", "s b 3"])
    }

    @Test(
        "A subscription fires on the events that it names",
        arguments: [("create", ["s a 1"]), ("update", ["s a 2"]), ("delete", ["s a 3"])]
    )
    func events(event: String, expected: [String]) async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes([.string(event)]))
        try await save(note("create", "a"))
        try await save(note("forceUpdate", "a"))
        try await save(note("forceDelete", "a"))
        #expect(read(try await listener.waiting()) == expected)
    }

    @Test("The filter is tried on the record as it is, and as it was")
    func filter() async throws {
        try await save(note("create", "known"))
        let listener = try await cloud.listen(as: ada)
        let filter: JSON = [
            "fieldName": "title", "comparator": "BEGINS_WITH",
            "fieldValue": ["value": "x", "type": "STRING"],
        ]
        try await cloud.subscribe("s", "query", as: ada, notes(filter: [filter]))
        try await save(note("create", "a", title: "x1"), note("create", "b", title: "y"))
        // The record begins to match, still matches, stops matching, and then no longer concerns
        // the subscription.
        for title in ["x", "xx", "y", "z"] {
            try await save(note("forceUpdate", "b", title: title))
        }
        try await save(note("forceDelete", "a"), note("forceDelete", "b"))
        #expect(
            read(try await listener.waiting()) == ["s a 1", "s b 2", "s b 2", "s b 2", "s a 3"]
        )
    }

    @Test("A filter that the schema does not allow is refused when the subscription is made")
    func badFilter() async throws {
        try await save(note("create", "a"))
        let filter: JSON = [
            "fieldName": "none", "comparator": "EQUALS", "fieldValue": ["value": 1],
        ]
        let refused = try await cloud.subscribe("s", "query", as: ada, notes(filter: [filter]))
        #expect(refused.serverErrorCode == "BAD_REQUEST")
        #expect(refused.reason.text?.contains("none") == true)
    }

    @Test("A subscription that fires once is gone after its first notification")
    func once() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes(["create"], ["firesOnce": true]))
        try await save(note("create", "a"), note("create", "b"))
        try await save(note("create", "c"))
        #expect(read(try await listener.waiting()) == ["s a 1"])
        let left = try await cloud.call("subscriptions/list", as: ada, method: "GET")
        #expect(left.body.subscriptions.elements.isEmpty)
    }

    @Test("Subscriptions to one change share the notification's identity; changes do not")
    func identity() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s1", "query", as: ada, notes(["create"]))
        try await cloud.subscribe("s2", "query", as: ada, notes(["create", "update"]))
        try await save(note("create", "a"), note("create", "b"))
        let waiting = try await listener.waiting()
        #expect(read(waiting) == ["s1 a 1", "s1 b 1", "s2 a 1", "s2 b 1"])
        #expect(waiting[0].ck.nid == waiting[2].ck.nid)
        #expect(waiting[0].ck.nid != waiting[1].ck.nid)
    }

    @Test("Of a zone or a database one notification waits at most, at the place of the newest")
    func coalescing() async throws {
        try await cloud.addZone("Other", as: ada)
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("z", "zone", as: ada, ["zoneID": ["zoneName": "Notes"]])
        try await cloud.subscribe("d", as: ada)
        try await save(note("create", "a"))
        try await save(note("create", "b"))
        try await save(note("create", "c"), in: "Other")
        let waiting = try await listener.waiting()
        #expect(waiting.map(\.ck.fet.sid) == ["z", nil])
        #expect(waiting.map(\.ck.met.sid) == [nil, "d"])
        #expect(waiting[0].ck.fet.zid == "Notes")
        #expect(waiting[1].ck.met.dbs == 2)
    }

    @Test("The default zone fires query subscriptions only, and cannot be subscribed to")
    func defaultZone() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("d", as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes(["create"]))
        try await save(note("create", "a"), in: "_defaultZone")
        #expect(read(try await listener.waiting()) == ["s a 1"])
        let zone: [String: JSON] = ["zoneID": ["zoneName": "_defaultZone"]]
        let refused = try await cloud.subscribe("z", "zone", as: ada, zone)
        #expect(refused.serverErrorCode == "BAD_REQUEST")
    }

    @Test("A subscription to one zone, or to one type, is notified of nothing else")
    func scope() async throws {
        try await cloud.addZone("Other", as: ada)
        let listener = try await cloud.listen(as: ada)
        let zone: JSON = ["zoneName": "Other"]
        try await cloud.subscribe("q", "query", as: ada, notes(["create"], ["zoneID": zone]))
        try await cloud.subscribe("t", as: ada, ["query": ["recordType": "Task"]])
        try await save(note("create", "a"))
        #expect(try await listener.waiting().isEmpty)
        try await save(note("create", "b"), in: "Other")
        try await save(FixtureCloud.note("create", "c", type: "Task"))
        let waiting = try await listener.waiting()
        #expect(waiting.map(\.ck.qry.sid) == ["q", nil])
        #expect(waiting.map(\.ck.met.sid) == [nil, "t"])
    }

    @Test("Those who watch the database or the zone are notified of its creation and deletion")
    func zones() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("d", as: ada)
        try await cloud.subscribe("z", "zone", as: ada, ["zoneID": ["zoneName": "New"]])
        try await cloud.addZone("New", as: ada)
        #expect(try await listener.next().body.ck.met.sid == "d")
        #expect(try await listener.next().body.ck.fet.sid == "z")
        _ = try await cloud.call(
            "zones/modify",
            as: ada,
            ["operations": [["operationType": "delete", "zone": ["zoneID": ["zoneName": "New"]]]]]
        )
        #expect(try await listener.waiting().count == 2)
    }

    @Test("A client is not notified of what it changed itself; the user's other clients are")
    func origin() async throws {
        try await cloud.subscribe("d", as: ada)
        let phone = try await cloud.listen(as: ada, client: "phone")
        let laptop = try await cloud.listen(as: ada, client: "laptop")
        let nameless = try await cloud.listen(as: ada)
        try await save(note("create", "a"), client: "phone")
        #expect(try await phone.waiting().isEmpty)
        #expect(try await laptop.waiting().count == 1)
        #expect(try await nameless.waiting().count == 1)
        try await save(note("create", "b"))
        #expect(try await phone.waiting().count == 1)
    }

    @Test("What was not changed notifies nobody: a failed operation, and all of an atomic request")
    func failures() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes())
        try await save(note("create", "a"))
        _ = try await listener.next()
        let clash = [note("create", "b"), note("create", "a")]
        _ = try await cloud.modify(as: ada, atomic: true, clash)
        #expect(try await listener.waiting().isEmpty)
        _ = try await cloud.modify(as: ada, atomic: false, clash)
        #expect(read(try await listener.waiting()) == ["s b 1"])
    }

    @Test("Records that go with another are reported too")
    func cascade() async throws {
        let listener = try await cloud.listen(as: ada)
        let owner: JSON = [
            "value": ["recordName": "a", "action": "DELETE_SELF"], "type": "REFERENCE",
        ]
        try await save(note("create", "a"), FixtureCloud.note("create", "b", ["of": owner]))
        try await cloud.subscribe("s", "query", as: ada, notes(["delete"]))
        try await save(note("forceDelete", "a"))
        #expect(read(try await listener.waiting()) == ["s a 3", "s b 3"])
    }

    @Test("Large records that go with another are reported by what their fields were")
    func largeCascade() async throws {
        let listener = try await cloud.listen(as: ada)
        let text: JSON = ["value": .string(String(repeating: "long ", count: 1000))]
        func note(_ name: String, _ title: JSON, type: JSON = "Note") -> JSON {
            let owner: JSON = ["value": ["recordName": "a", "action": "DELETE_SELF"]]
            return FixtureCloud.note(
                "create",
                name,
                ["title": ["value": title], "text": text, "of": owner],
                type: type
            )
        }
        try await save(FixtureCloud.note("create", "a"))
        try await save(
            note("b", "x"),
            note("c", "y"),
            note("d", "x", type: "Letter"),
            note("e", "x")
        )
        let filter: JSON = [
            "fieldName": "title", "comparator": "EQUALS", "fieldValue": ["value": "x"],
        ]
        try await cloud.subscribe("s", "query", as: ada, notes(["delete"], filter: [filter]))
        try await save(FixtureCloud.note("forceDelete", "a"))
        #expect(read(try await listener.waiting()) == ["s b 3", "s e 3"])
    }

    @Test("A token keeps the newest hundred notifications")
    func bound() async throws {
        let listener = try await cloud.listen(as: ada)
        try await cloud.subscribe("s", "query", as: ada, notes(["create"]))
        let operations = (1...150).map { note("create", "n\($0)") }
        let response = try await cloud.modify(as: ada, operations)
        #expect(response.records.count == 150)
        try await save(note("create", "last"))
        let waiting = read(try await listener.waiting())
        #expect(waiting.count == 100)
        #expect(waiting.first == "s n52 1")
        #expect(waiting.last == "s last 1")
    }
}
