import CloudKitExtras
import Foundation
import Testing

@Suite("The settings of cloudkit serve")
struct SettingsTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("SettingsTests-\(UUID().uuidString)")

    /// Returns the value and the source of each setting that `--print-config` prints.
    private func settings(
        _ arguments: [String],
        _ variables: [String: String] = [:],
        file: String? = nil
    ) async throws -> [String: (value: String, from: String)] {
        let outcome = try await print(arguments, variables, file: file)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        let head = try #require(lines.first)
        let value = try #require(head.firstRange(of: "VALUE")?.lowerBound.utf16Offset(in: head))
        let from = try #require(head.firstRange(of: "FROM")?.lowerBound.utf16Offset(in: head))
        return lines.dropFirst().reduce(into: [:]) { found, line in
            let cells = Array(line)
            func cell(_ range: Range<Int>) -> String {
                String(cells[range.clamped(to: 0..<cells.count)])
                    .trimmingCharacters(in: .whitespaces)
            }
            found[cell(0..<value)] = (cell(value..<from), cell(from..<cells.count))
        }
    }

    private func print(
        _ arguments: [String],
        _ variables: [String: String] = [:],
        file: String? = nil
    ) async throws -> CommandProcess.Outcome {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var arguments = ["serve", "--print-config"] + arguments
        if let file {
            let path = folder.appendingPathComponent("settings.json")
            try Data(file.utf8).write(to: path)
            arguments += ["--config", path.path]
        }
        return try await CommandProcess.run(arguments, settings: variables)
    }

    @Test("The command line goes over the environment, that over the file, that over the default")
    func precedence() async throws {
        let file = #"{"port": 1, "idle-seconds": 2, "request-seconds": 3, "user": ["Eve", "Fay"]}"#
        let variables = [
            "CLOUDKIT_SERVE_PORT": "10", "CLOUDKIT_SERVE_IDLE_SECONDS": "20",
            "CLOUDKIT_SERVE_USER": "Bob, Cleo", "CLOUDKIT_SERVE_TYPES_BY_SCHEMA": "true",
        ]
        let all = try await settings(["--port", "100"], variables, file: file)
        #expect(all["port"]?.value == "100")
        #expect(all["port"]?.from == "--port")
        #expect(all["idle-seconds"]?.value == "20")
        #expect(all["idle-seconds"]?.from == "CLOUDKIT_SERVE_IDLE_SECONDS")
        #expect(all["request-seconds"]?.value == "3")
        #expect(all["request-seconds"]?.from.hasSuffix("settings.json") == true)
        #expect(all["max-connections"]?.value == "800")
        #expect(all["max-connections"]?.from == "default")
        #expect(all["user"]?.value == "Bob,Cleo")
        #expect(all["types-by-schema"]?.value == "true")
        let less = try await settings([], [:], file: file)
        #expect(less["port"]?.value == "1")
        #expect(less["user"]?.value == "Eve,Fay")
    }

    @Test("Every option of serve that is a setting is one, under its name")
    func everyOption() async throws {
        let help = try await CommandProcess.run(["serve", "--help"])
        let options = Set(
            help.output.matches(of: /^  (?:-v, )?--([a-z-]+)/.anchorsMatchLineEndings())
                .map { String($0.output.1) }
        )
        let others: Set = ["config", "print-config", "color", "help", "version"]
        let known = Set(try await settings([]).keys)
        #expect(options.count > 30)
        #expect(options.subtracting(others).subtracting(known) == [])
        #expect(known.subtracting(options) == [])
    }

    @Test(
        "What cannot be used is refused with the place where it stands",
        arguments: [
            (#"{"prot": 1}"#, [:], "did you mean 'port'"),
            (#"{"port": "x"}"#, [:], "is not a whole number"),
            (#"{"port": 70000}"#, [:], "the most is 65535"),
            (#"{"max-connections": 0}"#, [:], "the least is 1"),
            (
                #"{"max-connections": 3, "max-connections-per-address": 4}"#, [:],
                "which no address can exceed"
            ),
            (#"{"max-asset-bytes": "2TiB"}"#, [:], "2199023255552: the most is 1099511627776"),
            (#"{"max-asset-bytes": 0}"#, [:], "0: the least is 1"),
            (#"{"durability": "some"}"#, [:], "is not full or relaxed"),
            (#"{"port": {"a": 1}}"#, [:], "'port' is not a text"),
            (#"{"port": null}"#, [:], "'port' is null"),
            ("[]", [:], "not a JSON object"),
            ("{}", ["CLOUDKIT_SERVE_PROT": "1"], "did you mean 'CLOUDKIT_SERVE_PORT'"),
            ("{}", ["CLOUDKIT_SERVE_PORT": "many"], "CLOUDKIT_SERVE_PORT is not a whole number"),
            ("{}", ["CLOUDKIT_SERVE_QUOTA": "lots"], "not a number of bytes"),
            (
                "{}", ["CLOUDKIT_SERVE_VERBOSE": "yes"],
                "CLOUDKIT_SERVE_VERBOSE is not true or false"
            ),
            (#"{"allowed-origin": ["app.example.com"]}"#, [:], "--allowed-origin"),
            (#"{"trusted-proxy": ["here"]}"#, [:], "--trusted-proxy"),
            (#"{"public-url": "cloud.example.com"}"#, [:], "--public-url"),
            (#"{"public-url": "https://cloud.example.com/?a"}"#, [:], "leave out the query"),
            (#"{"port": 1, "data": "port\"", "port": 2}"#, [:], "'port' stands there twice"),
            (#"{"admin-key-file": "/nowhere/key"}"#, [:], "there is no file that this user can"),
            (#"{"sign-in-callback": ["javascript:alert(1)"]}"#, [:], "--sign-in-callback"),
            (#"{"memory-bytes": 3000000, "max-request-bytes": 2000000}"#, [:], "--memory-bytes"),
        ]
    )
    func mistakes(file: String, variables: [String: String], message: String) async throws {
        let outcome = try await print([], variables, file: file)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(
        "No number makes a setting overflow: it is refused, or the server starts and stops with it"
    )
    func extremes() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("cloud").path
        var numbers: [String] = []
        for name in try await settings([]).keys {
            let outcome = try await print([], [:], file: #"{"\#(name)": "x"}"#)
            let isCount = outcome.errors.contains("is not a number of bytes")
            // A quota may be as large as it gets.
            guard outcome.errors.contains("is not a whole number") || isCount,
                !name.hasSuffix("quota")
            else { continue }
            numbers.append(name)
        }
        #expect(numbers.count > 10)
        var most: [String] = []
        for name in numbers {
            for extreme in [Int.min, -1, .max] {
                let outcome = try await print([], [:], file: #"{"\#(name)": \#(extreme)}"#)
                #expect(outcome.status == 2, "\(name)")
                let limit = outcome.errors.firstMatch(of: /the (least|most) is ([0-9]+)/)
                let bound = try #require(limit?.output.2, "\(name): \(outcome.errors)")
                // Without a database its settings are refused.
                let isTaken = name != "port" && !name.hasPrefix("database-")
                if extreme == .max, isTaken { most += ["--\(name)", "\(bound)"] }
            }
        }
        let place = most.firstIndex(of: "--max-request-bytes") ?? 0
        most.removeSubrange(place...place + 1)
        let server = try await CommandProcess.start(
            ["serve", "--data", data, "--port", "0", "--quota", "\(Int64.max)", "--public-quota"]
                + ["\(Int64.max)"] + most
        )
        let settings = ServedCloud.settings(
            try String(contentsOfFile: data + "/ada.env", encoding: .utf8)
        )
        for database in ["private", "public"] {
            let saved = try await CommandProcess.run(
                ["records", "save", "--type", "Note", "--database", database],
                settings: settings
            )
            #expect(saved.status == 0, "\(saved.errors)")
        }
        server.end(SIGTERM)
        #expect(server.status == 0)
    }

    @Test("A file with all defaults of the server can hold every kind of value")
    func fromFile() async throws {
        let data = folder.appendingPathComponent("cloud").path
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("serve.json")
        let text = """
            {"data": "\(data)", "port": 0, "user": ["Bob"], "quota": 1000, "public-quota": "1GiB",
             "grows-schema": false, "tombstone-days": 7, "session-days": 1, "log-format": "json"}
            """
        try Data(text.utf8).write(to: file)
        let server = try await CommandProcess.start(["serve", "--config", file.path])
        defer { server.end(SIGTERM) }
        let settings = ServedCloud.settings(
            try String(contentsOfFile: "\(data)/bob.env", encoding: .utf8)
        )
        let refused = try await CommandProcess.run(
            ["records", "save", "--type", "Note", "--field", "n=1"],
            settings: settings
        )
        #expect(refused.errors.contains("Did not find record type"), "\(refused.errors)")
        let schema = folder.appendingPathComponent("a.ckdb")
        try Data("DEFINE SCHEMA RECORD TYPE Note (t STRING);".utf8).write(to: schema)
        let imported = try await CommandProcess.run([
            "schema", "import", schema.path, "--data", data,
        ])
        #expect(imported.status == 0, "\(imported.errors)")
        let long = try await CommandProcess.run(
            [
                "records", "save", "--type", "Note", "--field",
                "t=\(String(repeating: "x", count: 1001))",
            ],
            settings: settings
        )
        #expect(long.errors.contains("QUOTA_EXCEEDED"), "\(long.errors)")
    }

    @Test("A user who asks too often for --request-rate is throttled")
    func requestRate() async throws {
        // Two of these arrive within a second on any machine.
        let outcome = try await CommandProcess.run([
            "exec", "--request-rate", "1", "python3", "-c",
            """
            import os, urllib.error, urllib.parse, urllib.request
            env = os.environ
            query = urllib.parse.urlencode({"ckAPIToken": env["CLOUDKIT_API_TOKEN"],
                "ckWebAuthToken": env["CLOUDKIT_WEB_AUTH_TOKEN"]})
            url = (env["CLOUDKIT_URL"] + "/database/1/" + env["CLOUDKIT_CONTAINER"]
                + "/development/private/zones/list?" + query)
            try:
                for _ in range(1000):
                    urllib.request.urlopen(url).read()
            except urllib.error.HTTPError as error:
                print(error.read().decode())
            """,
        ])
        #expect(outcome.output.contains("THROTTLED"), "\(outcome.output)\(outcome.errors)")
    }

    /// A server whose time can be moved.
    private struct TimedServer {
        private static let key = "a key that only tests know"

        /// The settings of its user.
        let settings: [String: String]

        /// Runs a test against a server with its folder in another one.
        static func run(
            in folder: URL,
            _ arguments: [String],
            _ test: (TimedServer) async throws -> Void
        ) async throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (data, key) = (folder.path + "/cloud", folder.path + "/key")
            try Data(Self.key.utf8).write(to: URL(fileURLWithPath: key))
            let server = try await CommandProcess.start(
                [
                    "serve", "--data", data, "--port", "0", "--user", "Ada", "--virtual-clock",
                    "--admin-key-file", key,
                ] + arguments
            )
            defer { server.end(SIGTERM) }
            let file = try String(contentsOfFile: data + "/ada.env", encoding: .utf8)
            try await test(TimedServer(settings: ServedCloud.settings(file)))
        }

        func advance(days: Int) async throws {
            let moved = try await HTTPTransport().send(
                TransportRequest(
                    method: "POST",
                    url: (settings["CLOUDKIT_URL"] ?? "") + "/_ck/clock",
                    headers: ["Authorization": "Bearer \(Self.key)"],
                    body: Data(#"{"advanceSeconds": \#(days * 86_400)}"#.utf8),
                    timeout: 60
                )
            )
            try #require(moved.status == 200)
        }

        func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
            try await CommandProcess.run(arguments, settings: settings)
        }
    }

    @Test("A session that is not used ends after --session-days", arguments: [1, 3])
    func sessionDays(days: Int) async throws {
        try await TimedServer.run(in: folder, ["--session-days", "\(days)"]) { server in
            try await server.advance(days: 2)
            let outcome = try await server.run("zones", "list")
            #expect(outcome.status == (days < 2 ? 1 : 0), "\(outcome.errors)")
        }
    }

    @Test("A deletion is reported for --tombstone-days; then older change tokens have expired")
    func tombstoneDays() async throws {
        try await TimedServer.run(in: folder, ["--tombstone-days", "2"]) { server in
            #expect(try await server.run("zones", "create", "Notes").status == 0)
            let place = ["--type", "Note", "--name", "a", "--zone", "Notes"]
            let saved = try await CommandProcess.run(
                ["records", "save"] + place,
                settings: server.settings
            )
            #expect(saved.status == 0, "\(saved.errors)")
            let all = try await server.run("records", "changes", "--zone", "Notes", "--json")
            let token = try #require(try all.objects().last?["syncToken"] as? String)
            let gone = try await server.run("records", "delete", "a", "--zone", "Notes")
            #expect(gone.status == 0, "\(gone.errors)")
            func changes() async throws -> CommandProcess.Outcome {
                try await server.run(
                    "records",
                    "changes",
                    "--zone",
                    "Notes",
                    "--since",
                    token,
                    "--json"
                )
            }
            try await server.advance(days: 1)
            #expect(try await changes().objects().first?["deleted"] as? Bool == true)
            try await server.advance(days: 2)
            let late = try await changes()
            #expect(late.status == 1)
            #expect(late.errors.contains("CHANGE_TOKEN_EXPIRED"), "\(late.errors)")
        }
    }

    @Test("With --types-by-schema a page that sends no types is served")
    func typesBySchema() async throws {
        // The rule itself is tested with the service; this tests that the option reaches it.
        for (options, isTaken) in [(["--types-by-schema"], true), ([], false)] {
            let outcome = try await CommandProcess.run(
                ["exec"] + options + [
                    "sh", "-c",
                    """
                    '\(CommandProcess.executable.path)' records save --type Note --name a \
                    --field t:TIMESTAMP=1000 >/dev/null
                    python3 - <<'PYTHON'
                    import json, os, urllib.parse, urllib.request
                    env = os.environ
                    query = urllib.parse.urlencode({"ckAPIToken": env["CLOUDKIT_API_TOKEN"],
                        "ckWebAuthToken": env["CLOUDKIT_WEB_AUTH_TOKEN"]})
                    url = (env["CLOUDKIT_URL"] + "/database/1/" + env["CLOUDKIT_CONTAINER"]
                        + "/development/private/records/query?" + query)
                    body = {"query": {"recordType": "Note", "filterBy": [{"fieldName": "t",
                        "comparator": "EQUALS", "fieldValue": {"value": 1000}}]}}
                    try:
                        response = urllib.request.urlopen(url, json.dumps(body).encode()).read()
                    except urllib.error.HTTPError as error:
                        response = error.read()
                    print(response.decode())
                    PYTHON
                    """,
                ]
            )
            #expect(outcome.output.contains(#""recordName":"a""#) == isTaken, "\(outcome.output)")
            #expect(outcome.output.contains("--types-by-schema") == !isTaken)
        }
    }
}
