import Foundation
import Testing

@Suite("cloudkit exec")
struct ExecTests {
    /// Runs a shell script under `cloudkit exec`.
    private static func run(
        _ script: String,
        _ options: [String] = [],
        settings: [String: String] = [:]
    ) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(
            ["exec"] + options + ["--", "/bin/sh", "-c", script],
            settings: settings
        )
    }

    @Test("The command finds a server of its own in its environment, and nothing of an outer one")
    func environment() async throws {
        let cloudkit = CommandProcess.executable.path
        let outcome = try await Self.run(
            """
            env | grep ^CLOUDKIT_ | cut -d= -f1 | sort | tr '\\n' ' '
            echo $CLOUDKIT_CONTAINER ${CLOUDKIT_URL%:*} $CLOUDKIT_ENVIRONMENT
            '\(cloudkit)' zones create Notes >/dev/null && '\(cloudkit)' zones list
            """,
            ["--container", "iCloud.com.example.exec"],
            settings: ["CLOUDKIT_URL": "http://192.0.2.1", "CLOUDKIT_KEY_ID": "outer"]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(
            lines.first
                == "CLOUDKIT_ADMIN_KEY CLOUDKIT_API_TOKEN CLOUDKIT_CONTAINER CLOUDKIT_ENVIRONMENT "
                + "CLOUDKIT_URL CLOUDKIT_WEB_AUTH_TOKEN iCloud.com.example.exec http://127.0.0.1 "
                + "development"
        )
        #expect(outcome.output.contains("Notes"))
        #expect(outcome.errors == "")
    }

    @Test("Input, output and arguments are the command's own")
    func streams() async throws {
        let outcome = try await CommandProcess.run(
            ["exec", "--", "/bin/sh", "-c", "cat; echo \"$0 $1\" >&2", "a b", "--help"],
            input: "typed\n"
        )
        #expect(outcome.output == "typed\n")
        #expect(outcome.errors == "a b --help\n")
    }

    @Test(
        "The exit status is the command's, or 128 and its signal, or what shells say of no command",
        arguments: [
            ("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137),
            ("kill -TERM $$", 143), ("kill -INT $$", 130),
        ]
    )
    func status(script: String, status: Int32) async throws {
        #expect(try await Self.run(script).status == status)
    }

    @Test("A command that is not there ends with 127, one that cannot run with 126")
    func noCommand() async throws {
        let missing = try await CommandProcess.run(["exec", "--", "/nowhere/at-all"])
        #expect(missing.status == 127)
        #expect(missing.errors.contains("/nowhere/at-all: No such file"))
        let folder = try await CommandProcess.run(["exec", "--", "/"])
        #expect(folder.status == 126)
        let none = try await CommandProcess.run(["exec"])
        #expect(none.status == 2)
        #expect(none.errors.contains("cloudkit exec COMMAND"))
    }

    @Test("A mistyped option is no command to run; what it may have meant is said")
    func mistypedOption() async throws {
        let outcome = try await CommandProcess.run(
            ["exec", "--containr", "iCloud.a", "--", "echo", "ran"]
        )
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("did you mean '--container'?"), "\(outcome.errors)")
    }

    @Test("--export-on-exit replaces a backup, and no other file")
    func exportOverFile() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("ExecTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("my notes".utf8).write(to: file)
        let refused = try await Self.run("echo ran", ["--export-on-exit", file.path])
        #expect(refused.status == 2)
        #expect(refused.output == "")
        #expect(refused.errors.contains("is no backup"), "\(refused.errors)")
        #expect(try String(contentsOf: file, encoding: .utf8) == "my notes")
        try FileManager.default.removeItem(at: file)
        for _ in 1...2 {
            let outcome = try await Self.run("exit 3", ["--export-on-exit", file.path])
            #expect(outcome.status == 3, "\(outcome.errors)")
        }
    }

    @Test(
        "A signal to cloudkit reaches the command, which may end as it likes",
        arguments: [SIGTERM, SIGHUP, SIGINT, SIGUSR1]
    )
    func signals(signal: CInt) async throws {
        let names = [SIGTERM: "TERM", SIGHUP: "HUP", SIGINT: "INT", SIGUSR1: "USR1"]
        let name = try #require(names[signal])
        let running = try await CommandProcess.start([
            "exec", "--", "/bin/sh", "-c",
            "trap 'exit 42' \(name); echo ready; while :; do sleep 0.05; done",
        ])
        #expect(running.greeting == "ready")
        running.end(signal)
        #expect(running.status == 42)
    }

    @Test("Nothing is left in the temporary folder when the command has ended")
    func cleansUp() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ExecTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome = try await Self.run("exit 3", settings: ["TMPDIR": folder.path])
        #expect(outcome.status == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("Faults come from a file; a mistake in it is said before the command runs")
    func faults() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("ExecTests-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let cloudkit = CommandProcess.executable.path
        let plan =
            #"{"rules": [{"fault": "error", "code": "ACCESS_DENIED", "operation": "zones/list"}]}"#
        try Data(plan.utf8).write(to: file)
        let outcome = try await Self.run(
            "'\(cloudkit)' zones list",
            ["--faults", file.path, "--verbose"]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("fault on purpose: rule 1 of the plan"))
        #expect(outcome.errors.contains("ACCESS_DENIED"))
        try Data(#"{"rules": [{"fault": "boom"}]}"#.utf8).write(to: file)
        let bad = try await Self.run("echo ran", ["--faults", file.path])
        #expect(bad.status == 2)
        #expect(bad.errors.contains("rules[0].fault: 'boom' is no fault"))
        #expect(bad.output == "")
    }

    @Test("Users of the header and containers on first use work where they were asked for")
    func firstUse() async throws {
        let cloudkit = CommandProcess.executable.path
        let script = """
            '\(cloudkit)' zones create Notes --container iCloud.another >/dev/null || exit 9
            '\(cloudkit)' zones list --container iCloud.another
            """
        let outcome = try await Self.run(script, ["--any-container"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Notes"))
        #expect(try await Self.run(script).status == 9)
    }
}
