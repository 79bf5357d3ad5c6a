import Foundation
import Testing

@Suite("cloudkit overview, requests, faults, clock, snapshots, containers: a running server")
struct OperatorCommandTests {
    /// Saves a record of the type Note in the zone Notes.
    private static func save(_ name: String, _ cloud: ServedCloud) async throws {
        try await cloud.objects(
            "records",
            "save",
            "--zone",
            "Notes",
            "--type",
            "Note",
            "--name",
            name,
            "--field",
            "a=1"
        )
    }

    @Test("The server's file for operators opens its routes, and nothing else does")
    func access() async throws {
        try await ServedCloud.run { cloud in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: "\(cloud.data)/operator.env"
            )
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let overview = try await cloud.objects("overview", as: "operator")
            let containers = try #require(overview.first?["containers"] as? [[String: Any]])
            #expect(containers.map { $0["container"] as? String } == ["iCloud.com.example.app"])
            #expect(containers.first?["users"] as? Int == 2)
            let text = try await cloud.run("overview", as: "operator").output
            #expect(text.contains("0 fault rules") && text.contains("production"))

            let unknown = try await cloud.run("overview", as: "ada")
            #expect(unknown.status == 2)
            #expect(unknown.errors.contains("operator.env"))
            let key = try cloud.file("key", "not the key of the server")
            let refused = try await cloud.run("overview", "--admin-key-file", key, as: "ada")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("ACCESS_DENIED"))
            let nowhere = try await cloud.run(
                "overview",
                "--url",
                "127.0.0.1:1",
                as: "operator"
            )
            #expect(nowhere.status == 2)
            #expect(nowhere.errors.contains("http://127.0.0.1:8787"))
        }
    }

    @Test(
        "A key that no request can carry is refused, and not printed",
        arguments: ["secret of\nthe operator", "secret\rof the operator", "secret öf the operator"]
    )
    func unusableKey(key: String) async throws {
        let outcome = try await CommandProcess.run(
            ["overview", "--url", "http://127.0.0.1:1"],
            settings: ["CLOUDKIT_ADMIN_KEY": key]
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("source the file operator.env"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("secret"))
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("key-\(UUID().uuidString)")
        try Data(key.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let serve = try await CommandProcess.run(
            ["serve", "--admin-key-file", file.path, "--print-config"]
        )
        #expect(serve.status == 2)
        #expect(serve.errors.contains(file.path) && !serve.errors.contains("secret"))
    }

    @Test("The file for operators is not the one of a user called Operator")
    func namesake() async throws {
        try await ServedCloud.run(options: ["--user", "Operator"]) { cloud in
            #expect(try cloud.settings(of: "operator")["CLOUDKIT_WEB_AUTH_TOKEN"] == nil)
            let user = try cloud.settings(of: "operator-iCloud-com-example-app")
            #expect(user["CLOUDKIT_WEB_AUTH_TOKEN"] != nil)
            #expect(user["CLOUDKIT_ADMIN_KEY"] == nil)
        }
    }

    @Test("A server with two containers asks for one of them")
    func containers() async throws {
        try await ServedCloud.run { cloud in
            let other = "iCloud.com.example.other"
            let made = try await CommandProcess.run([
                "users", "add", "Eve", "--no-password", "--data", cloud.data, "--new",
                "--container", other,
            ])
            #expect(made.status == 0, "\(made.errors)")
            var settings = try cloud.settings(of: "operator")
            settings["CLOUDKIT_CONTAINER"] = nil
            let list = ["snapshots", "list"]
            let ambiguous = try await CommandProcess.run(list, settings: settings)
            #expect(ambiguous.status == 2)
            #expect(ambiguous.errors.contains(other))
            let named = try await CommandProcess.run(
                list + ["--container", other],
                settings: settings
            )
            #expect(named.status == 0, "\(named.errors)")
        }
    }

    // MARK: Requests

    @Test("Requests are listed with their remedies, shown with their bodies, and sent again")
    func requests() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            #expect(try await cloud.run("records", "get", "missing").status == 1)
            let all = try await cloud.objects("requests", "list", as: "operator")
            #expect(
                all.map { $0["endpoint"] as? String } == ["zones/modify", "records/lookup"]
            )
            let refused = try await cloud.run(
                "requests",
                "list",
                "--only",
                "problems",
                as: "operator"
            )
            #expect(refused.output.hasPrefix("2  "), "\(refused.output)")
            #expect(refused.output.contains("NOT_FOUND"))
            #expect(refused.output.contains("Check the name"))
            let last = try await cloud.objects("requests", "list", "--limit", "1", as: "operator")
            #expect(last.map { $0["number"] as? Int } == [2])

            let shown = try await cloud.run("requests", "show", "1", as: "operator")
            #expect(shown.output.contains(#""zoneName":"Notes""#), "\(shown.output)")
            let ada = try await cloud.objects("users", "current").first?["userRecordName"]
            #expect(shown.output.contains(try #require(ada as? String)))

            try await cloud.objects("zones", "delete", "Notes")
            let again = try await cloud.run("requests", "replay", "1", as: "operator")
            #expect(again.status == 0, "\(again.errors)")
            #expect(again.output.contains("Notes"))
            let zones = try await cloud.run("zones", "list")
            #expect(zones.output.contains("Notes"))
            let failed = try await cloud.run("requests", "replay", "2", as: "operator")
            #expect(failed.status == 1 && failed.output.contains("NOT_FOUND"))
            let none = try await cloud.run("requests", "replay", "99", as: "operator")
            #expect(none.status == 1)
            #expect(none.errors.contains("The journal has no request '99'"))

            #expect(try await cloud.run("requests", "clear", as: "operator").status == 0)
            #expect(try await cloud.objects("requests", "list", as: "operator").isEmpty)
        }
    }

    @Test("A list that follows prints a request when it arrives", .timeLimit(.minutes(5)))
    func follow() async throws {
        let cloudkit = CommandProcess.executable.path
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("follow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The first line shows that the list has begun, before the second request is sent.
        let outcome = try await CommandProcess.run([
            "exec", "--", "/bin/sh", "-c",
            """
            cd '\(folder.path)' && mkfifo lines
            '\(cloudkit)' zones list >/dev/null
            '\(cloudkit)' requests list --follow >lines &
            exec 3<lines
            read -r first <&3
            '\(cloudkit)' zones create Notes >/dev/null
            read -r second <&3
            kill $!
            printf '%s\\n' "$first" "$second"
            """,
        ])
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 2, "\(outcome.errors)")
        #expect(lines.first?.contains("zones/list") == true)
        #expect(lines.last?.contains("zones/modify") == true)
    }

    // MARK: Faults and the clock

    @Test("A fault that is added happens, is counted, and ends when it is removed")
    func faults() async throws {
        try await ServedCloud.run { cloud in
            #expect(try await cloud.objects("faults", "list", as: "operator").isEmpty)
            let added = try await cloud.run(
                "faults",
                "add",
                "error",
                "code=ACCESS_DENIED",
                "operation=zones/list",
                "user=Ada",
                "reason=on purpose",
                as: "operator"
            )
            #expect(added.status == 0, "\(added.errors)")
            let failed = try await cloud.run("zones", "list")
            #expect(failed.status == 1)
            #expect(failed.errors.contains("on purpose"))
            try await cloud.objects("zones", "list", as: "bob")
            let faulty = try await cloud.run("requests", "list", "--only", "faults", as: "operator")
            #expect(faulty.output.contains("rule 1 of the plan"))
            let listed = try await cloud.run("faults", "list", as: "operator").output
            let row = try #require(listed.split(separator: "\n").last)
            #expect(
                row.contains("error code=ACCESS_DENIED operation=zones/list reason=on purpose")
            )
            #expect(row.split(separator: " ").suffix(2) == ["1", "1"], "\(row)")

            try await cloud.objects(
                "faults",
                "add",
                "delay",
                "milliseconds=1",
                "probability=0.5",
                as: "operator"
            )
            let both = try await cloud.objects("faults", "list", as: "operator")
            let counts = both.compactMap { ($0["count"] as? [String: Any])?["fitting"] as? Int }
            #expect(counts.first == 1, "the first rule goes on counting")
            let lines = try await cloud.run("faults", "list", "--json", as: "operator").output
            let rest = try await cloud.objects("faults", "remove", "1", as: "operator")
            let rule = try #require(rest.first?["rule"] as? [String: Any])
            #expect(rule["fault"] as? String == "delay")
            #expect(rule["probability"] as? Double == 0.5)
            #expect(try await cloud.run("zones", "list").status == 0)
            #expect(try await cloud.run("faults", "remove", "2", as: "operator").status == 1)

            let file = try cloud.file(
                "faults.json",
                #"{"seed": 3, "rules": [{"fault": "lostNotification"}]}"#
            )
            let set = try await cloud.run("faults", "set", file, as: "operator")
            #expect(set.output.contains("lostNotification"), "\(set.errors)")
            let one = try await cloud.run("faults", "add", "lostResponse", as: "operator")
            #expect(one.status == 0, "It goes on with the seed of the file: \(one.errors)")
            #expect(try await cloud.run("faults", "clear", as: "operator").status == 0)
            let again = try await cloud.run("faults", "set", "-", as: "operator", input: lines)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try await cloud.objects("faults", "list", as: "operator").count == 2)
            let wrong = lines.replacing("milliseconds", with: "millisecond")
            let refused = try await cloud.run("faults", "set", "-", as: "operator", input: wrong)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("rules[1]"), "\(refused.errors)")
            #expect(refused.errors.contains("did you mean 'milliseconds'"), "\(refused.errors)")
            let empty = try await cloud.run("faults", "set", "-", as: "operator")
            #expect(empty.status == 2 && empty.errors.contains("cloudkit faults clear"))
            try await cloud.objects("faults", "clear", as: "operator")
            #expect(try await cloud.objects("faults", "list", as: "operator").isEmpty)
        }
    }

    @Test(
        "A rule that says nothing is refused with what was meant",
        arguments: [
            (["eror"], "error"), (["error"], "code"), (["error", "ZONE_BUSY"], "KEY=VALUE"),
            (["error", "code=ZONE_BUSY", "operation=records/modfy"], "records/modify"),
            (["delay", "milliseconds=soon"], "milliseconds"),
            (["lostResponse", "probability=2"], "not above 0 and at most 1"),
            (["lostResponse", "times=0"], "times: 0 is less than 1"),
            (["lostResponse", "time=1"], "did you mean 'times'"),
        ]
    )
    func badFaults(rule: [String], remedy: String) async throws {
        let outcome = try await CommandProcess.run(
            ["faults", "add"] + rule,
            settings: ["CLOUDKIT_ADMIN_KEY": "a key of no server"]
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
    }

    @Test("The clock of a server for tests is advanced, and no other is")
    func clock() async throws {
        func time(_ objects: [[String: Any]]) throws -> Int {
            try #require(objects.first?["milliseconds"] as? Int)
        }
        try await ServedCloud.run(options: ["--virtual-clock"]) { cloud in
            let before = try time(await cloud.objects("clock", "show", as: "operator"))
            let after = try time(await cloud.objects("clock", "advance", "2d", as: "operator"))
            #expect(after - before >= 2 * 86_400_000)
            let wrong = try await cloud.run("clock", "advance", "soon", as: "operator")
            #expect(wrong.status == 2)
            let back = try await cloud.run("clock", "advance", "-1h", as: "operator")
            #expect(back.status == 2 && back.errors.contains("a clock moves forward"))
            for far in ["400000d", String(repeating: "9", count: 30) + "d"] {
                let refused = try await cloud.run("clock", "advance", far, as: "operator")
                #expect(refused.status == 2)
                #expect(refused.errors.contains("less than a thousand years"), "\(refused.errors)")
            }
        }
        try await ServedCloud.run { cloud in
            let refused = try await cloud.run("clock", "advance", "1h", as: "operator")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("--virtual-clock"))
        }
    }

    // MARK: Containers

    @Test("A snapshot is taken once, compared, restored and deleted")
    func snapshots() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            try await Self.save("a", cloud)
            let name = "before the tests"
            try await cloud.objects("snapshots", "take", name, as: "operator")
            let blank = try await cloud.run("snapshots", "take", "", as: "operator")
            #expect(blank.status == 2 && blank.errors.contains("name is blank"))
            let again = try await cloud.run("snapshots", "take", name, as: "operator")
            #expect(again.status == 2)
            #expect(again.errors.contains("--force"))
            let same = try await cloud.run("snapshots", "diff", name, as: "operator")
            #expect(same.status == 0 && same.output.isEmpty, "\(same.errors)")

            try await Self.save("b", cloud)
            try await cloud.objects("records", "delete", "a", "--zone", "Notes")
            let differs = try await cloud.run("snapshots", "diff", name, "--json", as: "operator")
            #expect(differs.status == 1)
            let changes = try differs.objects().map {
                "\($0["kind"] ?? "") \($0["recordName"] ?? "")"
            }
            #expect(changes == ["deleted a", "added b"])
            try await cloud.objects("snapshots", "take", "after", as: "operator")
            let two = try await cloud.run("snapshots", "diff", name, "after", as: "operator")
            #expect(two.status == 1)
            #expect(two.output.contains("deleted") && two.output.contains("added"))

            let restored = try await cloud.objects("snapshots", "restore", name, as: "operator")
            #expect(restored.map { $0["name"] as? String } == [name])
            #expect(try await cloud.run("records", "get", "a", "--zone", "Notes").status == 0)
            #expect(try await cloud.run("records", "get", "b", "--zone", "Notes").status == 1)
            let forced = try await cloud.run("snapshots", "take", name, "--force", as: "operator")
            #expect(forced.status == 0, "\(forced.errors)")
            #expect(try await cloud.run("snapshots", "delete", name, as: "operator").status == 0)
            let left = try await cloud.objects("snapshots", "list", as: "operator")
            #expect(left.map { $0["name"] as? String } == ["after"])
            let none = try await cloud.run("snapshots", "restore", name, as: "operator")
            let unknown = try await cloud.run("snapshots", "diff", "after", name, as: "operator")
            #expect(none.status == 1 && unknown.errors == none.errors)
        }
    }

    @Test("A container is emptied, with or without its schema")
    func reset() async throws {
        try await ServedCloud.run { cloud in
            func types() async throws -> String {
                let overview = try await cloud.run("overview", as: "operator").output
                return overview.split(separator: "\n").first { $0.contains("development") }
                    .map(String.init) ?? ""
            }
            try await cloud.objects("zones", "create", "Notes")
            try await Self.save("a", cloud)
            let kept = try await cloud.run(
                "containers",
                "reset",
                "--keep-schema",
                as: "operator"
            )
            #expect(kept.status == 0, "\(kept.errors)")
            #expect(try await !cloud.run("zones", "list").output.contains("Notes"))
            #expect(try await types().contains("Note"))
            let emptied = try await cloud.objects("containers", "reset", as: "operator")
            #expect(emptied.map { $0["container"] as? String } == ["iCloud.com.example.app"])
            #expect(try await !types().contains("Note"))
        }
    }

    @Test("Change tokens expire, and a user's zones are deleted, as clients may meet it")
    func clientsStartOver() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes", "More")
            let changes = try await cloud.objects("records", "changes", "--zone", "Notes")
            let token = try #require(changes.last?["syncToken"] as? String)
            let since = ["records", "changes", "--zone", "Notes", "--since", token]
            let ada = try cloud.settings(of: "ada")
            #expect(try await CommandProcess.run(since, settings: ada).status == 0)
            let expired = try await cloud.run(
                "containers",
                "expire-change-tokens",
                as: "operator"
            )
            #expect(expired.status == 0, "\(expired.errors)")
            let refused = try await CommandProcess.run(since, settings: ada)
            #expect(refused.errors.contains("CHANGE_TOKEN_EXPIRED"))

            let deleted = try await cloud.run(
                "containers",
                "delete-zones",
                "Notes",
                "--user",
                "Ada",
                "--reason",
                "encrypted-data-reset",
                as: "operator"
            )
            #expect(deleted.status == 0, "\(deleted.errors)")
            let left = try await cloud.run("zones", "list").output
            #expect(left.contains("More") && !left.contains("Notes"))
            let nobody = try await cloud.run(
                "containers",
                "delete-zones",
                "--user",
                "Nobody",
                as: "operator"
            )
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("cloudkit users add"))
        }
    }

    // MARK: Devices and notifications

    @Test("Devices are listed with how far each is behind")
    func devices() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            try await cloud.objects("records", "changes", "--zone", "Notes")
            try await Self.save("a", cloud)
            let devices = try await cloud.objects("devices", "list", as: "operator")
            let behind = devices.compactMap { ($0["zones"] as? [[String: Any]])?.first?["behind"] }
            #expect(behind.compactMap { $0 as? Int } == [1])
            // All commands together are one device.
            #expect(devices.map { $0["clientID"] as? String } == ["cloudkit"])
            let table = try await cloud.run("devices", "list", as: "operator").output
            #expect(table.contains("Notes") && table.hasPrefix("DEVICE"))
        }
    }

    @Test("A test notification reaches listening devices, and is listed", .timeLimit(.minutes(5)))
    func pushes() async throws {
        let cloudkit = CommandProcess.executable.path
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("pushes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The first test that has a device shows that somebody listens.
        let outcome = try await CommandProcess.run([
            "exec", "--", "/bin/sh", "-c",
            """
            cd '\(folder.path)' && mkfifo lines
            '\(cloudkit)' zones create Notes >/dev/null
            '\(cloudkit)' subscriptions create --type zone --id news --zone Notes >/dev/null
            '\(cloudkit)' pushes test news --user Ada
            '\(cloudkit)' pushes listen >lines 2>/dev/null &
            exec 3<lines
            until '\(cloudkit)' pushes test news --user Ada | grep -q '^1 device$'; do :; done
            read -r notification <&3
            kill $!
            printf '%s\\n' "$notification"
            '\(cloudkit)' pushes list --json | tail -n 1
            '\(cloudkit)' pushes test none --user Ada
            """,
        ])
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 3, "\(outcome.output)\(outcome.errors)")
        #expect(lines[0] == "0 devices")
        #expect(lines[1].contains(#""sid":"news""#), "\(lines[1])")
        #expect(lines[2].contains(#""devices":1"#) && lines[2].contains("payload"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("NOT_FOUND"))
    }

    // MARK: The rest

    @Test("Any other route is called by its method and path")
    func operate() async throws {
        try await ServedCloud.run { cloud in
            let users = "containers/iCloud.com.example.app/users"
            let added = try await cloud.run(
                "operate",
                "post",
                "/_ck/\(users)",
                "--body",
                #"{"name": "Grace Hopper"}"#,
                as: "operator"
            )
            #expect(added.status == 0, "\(added.errors)")
            let typed = try await cloud.run(
                "operate",
                "POST",
                users,
                "--body",
                "-",
                as: "operator",
                input: #"{"name": "Mary"}"#
            )
            #expect(typed.status == 0, "\(typed.errors)")
            let listed = try await cloud.run("operate", "GET", users, as: "operator")
            #expect(listed.output.contains("Grace") && listed.output.contains("Mary"))
            let none = try await cloud.run("operate", "GET", "nothing", as: "operator")
            #expect(none.status == 1)
            #expect(none.errors.contains("No such route: GET /_ck/nothing"))
        }
    }
}
