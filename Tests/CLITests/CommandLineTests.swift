import Foundation
import Testing

@Suite("What a person types first")
struct CommandLineTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("CommandLineTests-\(UUID().uuidString)")

    private func inFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body()
    }

    private func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(arguments)
    }

    @Test("--version prints the version alone")
    func version() async throws {
        let outcome = try await run("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\n/) != nil)
    }

    @Test(
        "A mistyped command is refused with the one that was meant",
        arguments: [
            ("recrods", "'records'"), ("zone", "'zones'"), ("records qeury", "'query'"),
            ("help schma", "'schema'"), ("assets downlod", "'download'"), ("srve", "'serve'"),
        ]
    )
    func mistyped(words: String, meant: String) async throws {
        let outcome = try await CommandProcess.run(
            words.split(separator: " ").map(String.init)
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("did you mean \(meant)"), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test(
        "A mistyped option is refused with the one that was meant, whatever else is missing",
        arguments: [
            ("--hlep", "--help"), ("records query --hlep", "--help"), ("backup --hepl", "--help"),
            ("records save --tpye=Note", "--type"), ("records query Note --limt 3", "--limit"),
        ]
    )
    func mistypedOption(words: String, meant: String) async throws {
        let outcome = try await CommandProcess.run(
            words.split(separator: " ").map(String.init)
        )
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasSuffix("; did you mean '\(meant)'?\n"), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }

    @Test("A word that is like no command is refused with where they are listed")
    func unknown() async throws {
        let outcome = try await run("frobnicate")
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("cloudkit --help"))
    }

    @Test(
        "Each shell gets its completions, which know the commands",
        arguments: ["bash", "zsh", "fish"]
    )
    func completion(shell: String) async throws {
        let outcome = try await run("completion", shell)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("schema"))
        #expect(try await run("--help").output.contains("cloudkit completion bash"))
        #expect(try await run("completion", "tcsh").status == 2)
    }

    @Test(
        "A result that cannot be written is an error with its reason",
        arguments: ["--help >/dev/full", "--version >&-", "completion bash >/dev/full"]
    )
    func fullOutput(words: String) async throws {
        let outcome = try await CommandProcess.shell("\"$0\" \(words)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: Standard output cannot be written: "))
    }

    @Test(
        "A reader that has enough is no error",
        arguments: ["--help", "completion bash"]
    )
    func closedReader(words: String) async throws {
        let outcome = try await CommandProcess.shell(
            "{ \"$0\" \(words); echo \"status $?\" >&2; } | true"
        )
        #expect(outcome.errors == "status 0\n")
    }

    @Test(
        "What a server responds and cannot be written is an error with its reason",
        arguments: [
            ("operator", "overview"), ("operator", "overview --json"), ("operator", "faults list"),
            ("operator", "devices list"), ("operator", "requests list"), ("operator", "clock show"),
            ("operator", "snapshots take s --force"), ("operator", "operate GET overview"),
            ("ada", "zones list"), ("ada", "records query Note"), ("ada", "records get a"),
            ("ada", "records get a --json"), ("ada", "users current"),
        ]
    )
    func fullResults(user: String, words: String) async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("records", "save", "--type", "Note", "--name", "a")
            for place in [">/dev/full", ">&-"] {
                let outcome = try await CommandProcess.shell(
                    "\"$0\" \(words) \(place)",
                    settings: try cloud.settings(of: user)
                )
                #expect(outcome.status == 1, "\(place)")
                #expect(
                    outcome.errors.hasPrefix("Error: Standard output cannot be written: "),
                    "\(place): \(outcome.errors)"
                )
            }
        }
    }

    @Test("A port in use is named, with the way to a free one")
    func portInUse() async throws {
        try await inFolder {
            let first = try await CommandProcess.start([
                "serve", "--data", folder.path + "/a", "--port", "0",
            ])
            defer { first.end(SIGTERM) }
            let port = try #require(
                first.greeting.firstMatch(of: /127\.0\.0\.1:([0-9]+)/)?.output.1
            )
            let second = try await run("serve", "--data", folder.path + "/b", "--port", "\(port)")
            #expect(second.status == 2)
            #expect(second.errors.contains("Port \(port) of 127.0.0.1 is in use"))
            #expect(second.errors.contains("--port 0"))
            #expect(second.errors.split(separator: "\n").count == 1, "\(second.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/b"))
        }
    }

    @Test(
        "An address of another machine, or none, is refused in one line",
        arguments: ["192.0.2.1", "999.1.1.1"]
    )
    func foreignAddress(host: String) async throws {
        try await inFolder {
            let outcome = try await run(
                "serve",
                "--data",
                folder.path + "/a",
                "--port",
                "0",
                "--host",
                host
            )
            #expect(outcome.status == 2)
            #expect(
                outcome.errors.contains("\(host) is no address of this machine"),
                "\(outcome.errors)"
            )
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
    }

    @Test("A folder for the data that is a file, or cannot be written, is refused before anything")
    func badFolder() async throws {
        try await inFolder {
            let file = folder.appendingPathComponent("file")
            try Data("x".utf8).write(to: file)
            for path in [file.path, file.path + "/below", "/proc/cloudkit"] {
                let outcome = try await run("serve", "--data", path, "--port", "0")
                #expect(outcome.status == 2, "\(path)")
                #expect(outcome.errors.contains(path), "\(outcome.errors)")
                #expect(outcome.errors.split(separator: "\n").count == 1)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == "x")
        }
    }

    @Test(
        "An address without a scheme, and a container that is none, are refused before any request"
    )
    func badPlace() async throws {
        for arguments in [
            ["zones", "list", "--url", "localhost:8787", "--container", "c", "--api-token", "t"],
            [
                "zones", "list", "--url", "http://127.0.0.1:9", "--container", "a b", "--api-token",
                "t",
            ],
            ["tokens", "api", "--url", "localhost:8787"],
            ["serve", "--container", "a/b"],
            ["serve", "--public-url", "cloud.example.com", "--data", "/tmp/never-made"],
        ] {
            let outcome = try await CommandProcess.run(arguments)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(outcome.errors.contains(" is not a"), "\(outcome.errors)")
            // Messages use the option names that the user typed.
            for name in arguments where name.hasPrefix("--public") {
                #expect(outcome.errors.contains(name), "\(outcome.errors)")
            }
        }
    }

    @Test(
        "A file of faults is refused where it names none that there is, with the nearest",
        arguments: [
            (#"{"rules": [{"fault": "error", "code": "THROTLED"}]}"#, "'THROTTLED'"),
            (#"{"rules": [{"fault": "erorr", "code": "THROTTLED"}]}"#, "'error'"),
            (
                #"{"rules": [{"fault": "delay", "milliseconds": 5, "operation": "record/modify"}]}"#,
                "'records/modify'"
            ),
            (
                #"{"rules": [{"fault": "nativeError", "code": "userDeletedZon"}]}"#,
                "'userDeletedZone'"
            ),
            (#"{"rules": [{"fault": "delay", "miliseconds": 5}]}"#, "'milliseconds'"),
        ]
    )
    func faults(json: String, meant: String) async throws {
        try await inFolder {
            let file = folder.appendingPathComponent("faults.json")
            try Data(json.utf8).write(to: file)
            let outcome = try await run("exec", "--faults", file.path, "true")
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("did you mean \(meant)"), "\(outcome.errors)")
            #expect(outcome.errors.contains("rules[0]"))
        }
    }

    @Test("exec takes its command without --, and says in one line that there is none")
    func exec() async throws {
        let plain = try await run("exec", "--user", "Bob", "printf", "%s", "--help")
        #expect(plain.output == "--help")
        #expect(plain.status == 0)
        let marked = try await run("exec", "--", "printf", "%s", "--version")
        #expect(marked.output == "--version")
        let missing = try await run("exec", "no-such-program", "--help")
        #expect(missing.status == 127)
        #expect(missing.errors.split(separator: "\n").count == 1)
        #expect(missing.errors.contains("no-such-program"))
    }

    @Test(
        "The demonstration leaves nothing behind when it is interrupted",
        arguments: [SIGINT, SIGTERM]
    )
    func demo(signal: CInt) async throws {
        try await inFolder {
            // It does not end before the signal, however late that is.
            let demo = try await CommandProcess.start(
                ["demo", "--serve"],
                settings: ["TMPDIR": folder.path],
                until: .errors
            )
            #expect(demo.greeting.contains("Server at"))
            demo.end(signal)
            // Once it only serves, a signal is its ordinary end.
            #expect([0, 128 + signal].contains(demo.status))
            let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            #expect(left == [])
        }
    }

    @Test("One of a thing is not called several")
    func plurals() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--field",
                "n=1"
            )
            let exported = try await cloud.run(
                "export",
                cloud.path("a.jsonl"),
                "--assets",
                cloud.path("assets"),
                "--zone",
                "Notes"
            )
            #expect(exported.output.contains("Exported 1 record of 1 zone, with 0 files"))
        }
    }

    @Test("Files are replaced with --force alone")
    func overwriting() async throws {
        try await ServedCloud.run { cloud in
            let file = try cloud.file("there", "before")
            for arguments in [
                ["tokens", "api", "--data", cloud.data, "--output", file],
                ["schema", "export", "--data", cloud.data, "--output", file],
                ["export", file, "--assets", cloud.path("a"), "--without-default-zone"],
                ["backup", file, "--data", cloud.data],
            ] {
                let refused = try await CommandProcess.run(
                    arguments,
                    settings: try cloud.settings(of: "ada")
                )
                #expect(refused.status == 2, "\(arguments)")
                #expect(refused.errors.contains("--force"))
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "before")
                let forced = try await CommandProcess.run(
                    arguments + ["--force"],
                    settings: try cloud.settings(of: "ada")
                )
                #expect(forced.status == 0, "\(forced.errors)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)) != Data("before".utf8))
                try Data("before".utf8).write(to: URL(fileURLWithPath: file))
            }
        }
    }
}
