import Foundation
import Testing

@Suite("Commands of the repository")
struct CommandTests {
    /// The folder, which is kept until the suite's instance, one per test, is released.
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Returns a search path on which `swift` is a shell script.
    private func pathWithSwift(_ script: String) async throws -> String {
        let source = try folder.write("#!/bin/sh\n\(script)\n", to: "source")
        // By another process: if this process wrote the program, a child started meanwhile would keep
        // it open, and a program that is open for writing cannot be run.
        let swift = folder.url.appending(path: "swift").path
        let copy = try await Script.run("/usr/bin/install", "-m", "755", source, swift)
        #expect(copy.status == 0, "\(copy.output)")
        return "\(folder.url.path):/usr/bin:/bin"
    }

    @Test("A step prints its name and passes its status on")
    func step() async throws {
        let passed = try await Script.run("Scripts/step", "Say hello", "echo", "hello")
        #expect(passed.status == 0)
        #expect(passed.output.contains(/^== Say hello\nhello\n-- Say hello: done in \d+ s\n$/))

        let failed = try await Script.run("Scripts/step", "Fail", "sh", "-c", "exit 7")
        #expect(failed.status == 7)
        #expect(failed.output.contains(/-- Fail: FAILED with status 7 after \d+ s\n$/))
    }

    @Test("A check goes on after a gate that failed, and fails at the end")
    func check() async throws {
        let path = try await pathWithSwift("case \"$*\" in *release*) exit 9 ;; esac")
        let failed = try await Script.run(
            "Scripts/check",
            "release",
            "imports",
            environment: ["PATH": path]
        )
        #expect(failed.status == 1)
        #expect(
            failed.output.contains(
                /== Summary\nrelease +FAILED +\d+ s\nimports +passed +\d+ s\n$/
            )
        )

        let passed = try await Script.run("Scripts/check", "imports", environment: ["PATH": path])
        #expect(passed.status == 0)
    }

    @Test("A gate with several commands fails with the first of them")
    func firstCommandOfGate() async throws {
        // Nothing is resolved, so that Scripts/weight fails; Scripts/traits has nothing to object to.
        let path = try await pathWithSwift("exit 0")
        let run = try await Script.run("Scripts/check", "traits", environment: ["PATH": path])
        #expect(run.status == 1)
        #expect(!run.output.contains("== The default traits"))
    }

    @Test("A check of a gate that does not exist is refused")
    func unknownGate() async throws {
        let run = try await Script.run("Scripts/check", "nonsense")
        #expect(run.status == 2)
        #expect(run.output == "check: there is no gate 'nonsense'\n")
    }

    @Test(
        "Setup refuses a toolchain that is too old, silent, or missing, and says what to install",
        arguments: [
            (
                "echo 'Swift version 6.2.1 (swift-6.2.1-RELEASE)'",
                "found Swift 6.2, which is too old."
            ),
            ("echo 'Swift version 5.10'", "found Swift 5.10, which is too old."),
            ("echo broken", "'swift --version' printed no version, but: broken."),
        ]
    )
    func oldToolchain(script: String, message: String) async throws {
        let path = try await pathWithSwift(script)
        let run = try await Script.run("Scripts/setup", environment: ["PATH": path])
        #expect(run.status == 1)
        #expect(
            run.output == "setup: \(message) "
                + "Install Swift 6.3 or later: https://www.swift.org/install\n"
        )
    }

    @Test("Every command of the Makefile is listed with a sentence")
    func help() async throws {
        let makefile = try String(
            contentsOf: Repository.root.appending(path: "Makefile"),
            encoding: .utf8
        )
        let targets = makefile.matches(of: /(?m)^([a-z]+):/).map(\.1)
        #expect(targets.contains("demo") && targets.contains("test") && targets.contains("check"))
        for target in targets {
            #expect(makefile.contains(try Regex("(?m)^\(target): ## [A-Z].{10,}$")))
        }
    }
}
