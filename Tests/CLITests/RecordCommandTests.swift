import Foundation
import Testing

@Suite("cloudkit records, zones, subscriptions and users")
struct RecordCommandTests {
    private func value(_ record: [String: Any]?, _ key: String) -> Any? {
        let fields = record?["fields"] as? [String: [String: Any]]
        return fields?[key]?["value"]
    }

    @Test("A record is saved, found, changed and deleted from the shell")
    func records() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            let saved = try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--name",
                "n1",
                "--field",
                "title=Milk",
                "--field",
                "count:INT64=3",
                "--field",
                "due:TIMESTAMP=2026-01-31T12:00:00Z",
                "--field",
                "tags=[\"a\",\"b\"]",
                "--field",
                "place:LOCATION=47.4,8.5",
                "--field",
                "other:REFERENCE=n2",
                "--field",
                "secret:ENCRYPTED_STRING=s"
            )
            #expect(saved.count == 1)
            #expect(value(saved.first, "due") as? Int64 == 1_769_860_800_000)
            #expect(value(saved.first, "tags") as? [String] == ["a", "b"])
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--name",
                "n2",
                "--field",
                "title=Eggs",
                "--field",
                "count:INT64=12"
            )
            let found = try await cloud.objects(
                "records",
                "query",
                "Note",
                "--zone",
                "Notes",
                "--where",
                "count > 1",
                "--where",
                "due:TIMESTAMP < 2027-01-01T00:00:00Z",
                "--sort",
                "count:desc"
            )
            #expect(found.map { $0["recordName"] as? String } == ["n1"])
            let ordered = try await cloud.objects(
                "records",
                "query",
                "Note",
                "--zone",
                "Notes",
                "--sort",
                "count:desc",
                "--field",
                "title"
            )
            #expect(ordered.map { $0["recordName"] as? String } == ["n2", "n1"])
            #expect(value(ordered.first, "count") == nil)

            // Fields that are not given keep their values.
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--name",
                "n1",
                "--field",
                "title=Bread",
                "--clear",
                "count"
            )
            let changed = try await cloud.objects("records", "get", "n1", "--zone", "Notes")
            #expect(value(changed.first, "title") as? String == "Bread")
            #expect(value(changed.first, "count") == nil)
            #expect(value(changed.first, "secret") as? String == "s")

            try await cloud.objects("records", "delete", "n1", "--zone", "Notes")
            let gone = try await cloud.run("records", "get", "n1", "n2", "--zone", "Notes")
            #expect(gone.status == 1)
            #expect(gone.output.contains("Eggs"))
            #expect(gone.errors.contains("n1: NOT_FOUND"))
            #expect(gone.errors.contains("1 of 2 failed"))
        }
    }

    @Test("A tag that is stale, or a name that is taken, is refused and changes nothing")
    func conditions() async throws {
        try await ServedCloud.run { cloud in
            let first = try await cloud.objects(
                "records",
                "save",
                "--type",
                "Note",
                "--name",
                "n",
                "--field",
                "title=one"
            )
            let tag = try #require(first.first?["recordChangeTag"] as? String)
            try await cloud.objects(
                "records",
                "save",
                "--type",
                "Note",
                "--name",
                "n",
                "--field",
                "title=two",
                "--tag",
                tag
            )
            for arguments in [
                [
                    "records", "save", "--type", "Note", "--name", "n", "--field", "title=three",
                    "--new",
                ],
                [
                    "records", "save", "--type", "Note", "--name", "n", "--field", "a=3", "--tag",
                    tag,
                ],
                ["records", "delete", "n", "--tag", tag],
            ] {
                let refused = try await CommandProcess.run(
                    arguments + ["--json"],
                    settings: try cloud.settings(of: "ada")
                )
                #expect(refused.status == 1)
                let code = try refused.objects().first?["serverErrorCode"] as? String
                #expect(code == "CONFLICT")
            }
            let now = try await cloud.objects("records", "get", "n")
            #expect(value(now.first, "title") as? String == "two")
        }
    }

    @Test("Changes go on from the token of the last time")
    func changes() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            let lines = (0..<450).map { index in
                #"{"recordName":"r\#(index)","recordType":"N","fields":{"i":{"value":\#(index)}}}"#
            }
            let file = try cloud.file("records.jsonl", lines.joined(separator: "\n"))
            let saved = try await cloud.objects(
                "records",
                "save",
                "--file",
                file,
                "--zone",
                "Notes"
            )
            #expect(saved.count == 450)
            let all = try await cloud.objects("records", "changes", "--zone", "Notes")
            #expect(all.count == 451)
            let token = try #require(all.last?["syncToken"] as? String)
            try await cloud.objects("records", "delete", "r7", "--zone", "Notes")
            let news = try await cloud.objects(
                "records",
                "changes",
                "--zone",
                "Notes",
                "--since",
                token
            )
            #expect(news.first?["recordName"] as? String == "r7")
            #expect(news.first?["deleted"] as? Bool == true)
            #expect(news.count == 2)

            let some = try await cloud.run(
                "records",
                "query",
                "N",
                "--zone",
                "Notes",
                "--limit",
                "210",
                "--json"
            )
            #expect(try some.objects().count == 210)
            #expect(some.errors.contains("--limit 0"))
            let every = try await cloud.objects(
                "records",
                "query",
                "N",
                "--zone",
                "Notes",
                "--limit",
                "0"
            )
            #expect(every.count == 449)
        }
    }

    @Test("What --json prints can be saved again, from standard input")
    func json() async throws {
        try await ServedCloud.run { cloud in
            let made = try await cloud.run(
                "records",
                "save",
                "--type",
                "Note",
                "--field",
                "text=Zwölf → 12",
                "--json"
            )
            let name = try #require(try made.objects().first?["recordName"] as? String)
            try await cloud.objects("records", "delete", name)
            try await cloud.objects("records", "save", "--file", "-", input: made.output)
            let again = try await cloud.objects("records", "get", name)
            #expect(value(again.first, "text") as? String == "Zwölf → 12")
            let broken = try await cloud.run(
                "records",
                "save",
                "--file",
                "-",
                input: made.output + "{\"recordName\":1}\n"
            )
            #expect(broken.status == 2)
            #expect(broken.errors.contains("-:2: recordName"))
        }
    }

    @Test("Zones are made, listed and deleted")
    func zones() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "A", "B")
            let made = try await cloud.run("zones", "list")
            #expect(made.output.hasPrefix("ZONE"))
            try await cloud.objects("zones", "delete", "A")
            let zones = try await cloud.objects("zones", "list")
            let names = zones.compactMap {
                ($0["zoneID"] as? [String: Any])?["zoneName"] as? String
            }
            #expect(names.sorted() == ["B", "_defaultZone"])
            let refused = try await cloud.run("zones", "delete", "_defaultZone")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("_defaultZone: "))
        }
    }

    @Test("Subscriptions are made, listed and deleted")
    func subscriptions() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects(
                "records",
                "save",
                "--type",
                "Note",
                "--field",
                "title=Milk"
            )
            let made = try await cloud.objects(
                "subscriptions",
                "create",
                "--type",
                "query",
                "--id",
                "s1",
                "--record-type",
                "Note",
                "--where",
                "title == Milk",
                "--on",
                "create"
            )
            #expect(made.first?["firesOn"] as? [String] == ["create"])
            let listed = try await cloud.objects("subscriptions", "list")
            #expect(listed.map { $0["subscriptionID"] as? String } == ["s1"])
            try await cloud.objects("subscriptions", "delete", "s1")
            #expect(try await cloud.objects("subscriptions", "list").isEmpty)
            let mixed = try await cloud.run(
                "subscriptions",
                "create",
                "--type",
                "zone",
                "--record-type",
                "Note"
            )
            #expect(mixed.status == 2)
            #expect(mixed.errors.contains("only for query subscriptions"))
        }
    }

    @Test("Users learn who they are, and find each other")
    func users() async throws {
        try await ServedCloud.run { cloud in
            let ada = try await cloud.objects("users", "current")
            let bob = try await cloud.objects("users", "current", as: "bob")
            let name = try #require(bob.first?["userRecordName"] as? String)
            #expect(ada.first?["userRecordName"] as? String != name)
            let found = try await cloud.run("users", "discover", name)
            #expect(found.output.contains("Bob"))
            let nobody = try await cloud.run("users", "discover", name, "x@example.com")
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("1 of 2 were not found"))
        }
    }

    @Test("Values that are not of their type are refused before anything is sent")
    func values() async throws {
        try await ServedCloud.run { cloud in
            for (field, problem) in [
                ("count:INT64=x", "'x' is not a whole number"), ("=x", "is not a field"),
                ("a:NOTHING=x", "no type NOTHING"), ("due:TIMESTAMP=soon", "is not a date"),
                ("b:BYTES=ü", "is not base64"), ("p:LOCATION=47", "a latitude and a longitude"),
                ("l:STRING_LIST={}", "Field l"), ("f:ASSET=x", "--asset"),
            ] {
                let refused = try await cloud.run(
                    "records",
                    "save",
                    "--type",
                    "T",
                    "--field",
                    field
                )
                #expect(refused.status == 2)
                #expect(refused.errors.contains(problem), "\(field): \(refused.errors)")
            }
            let conditions = try await cloud.run("records", "query", "T", "--where", "a ~ 1")
            #expect(conditions.status == 2)
            #expect(conditions.errors.contains("no operator ~"))
        }
    }

    @Test("People get tables; a reader that goes away is no mistake")
    func people() async throws {
        try await ServedCloud.run { cloud in
            let lines = (0..<200).map { #"{"recordName":"r\#($0)","recordType":"N"}"# }
            try await cloud.objects(
                "records",
                "save",
                "--file",
                "-",
                input: lines.joined(separator: "\n")
            )
            let table = try await cloud.run("records", "query", "N", "--limit", "3")
            let rows = table.output.split(separator: "\n")
            #expect(rows.count == 4)
            #expect(rows.first?.hasPrefix("RECORD") == true)
            let shell = try await CommandProcess.shell(
                ". '\(cloud.data)/ada.env'; for i in 1 2 3 4 5 6 7 8 9; do "
                    + "\"$0\" records query N --json 2>>'\(cloud.path("errors"))' | head -n 1; done"
            )
            #expect(shell.output.split(separator: "\n").count == 9)
            #expect(try String(contentsOfFile: cloud.path("errors"), encoding: .utf8).isEmpty)
        }
    }

    @Test("Missing settings, a server that is not there and wrong tokens are distinguished")
    func connection() async throws {
        let none = try await CommandProcess.run(["zones", "list"])
        #expect(none.status == 2)
        #expect(none.errors.contains("CLOUDKIT_API_TOKEN is not set"))
        try await ServedCloud.run { cloud in
            let wrong = try await cloud.run("zones", "list", "--web-auth-token", "nothing")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("AUTHENTICATION_REQUIRED"))
            let settings = try cloud.settings(of: "ada")
            let open = try await CommandProcess.run(
                ["zones", "list"],
                settings: settings.filter { $0.key != "CLOUDKIT_WEB_AUTH_TOKEN" }
            )
            #expect(open.status == 1)
            #expect(open.errors.contains("AUTHENTICATION_REQUIRED"))
            #expect(open.errors.contains("CLOUDKIT_WEB_AUTH_TOKEN"))
        }
        let nowhere = try await CommandProcess.run([
            "zones", "list", "--url", "http://127.0.0.1:1", "--container", "c",
            "--api-token", "a",
        ])
        #expect(nowhere.status == 1)
        #expect(nowhere.errors.contains("127.0.0.1:1"))
    }
}
