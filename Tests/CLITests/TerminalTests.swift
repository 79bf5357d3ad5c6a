#if os(Linux)
import Foundation
import Testing

@Suite("A terminal")
struct TerminalTests {
    @Test("No line of a table is wider than the terminal")
    func width() async throws {
        try await ServedCloud.run { cloud in
            let long = String(repeating: "lang ", count: 100)
            try await cloud.objects(
                "records",
                "save",
                "--type",
                "N",
                "--name",
                "n",
                "--field",
                "text=\(long)"
            )
            let settings = try cloud.settings(of: "ada")
            let shown = try PseudoTerminal.show(
                ["records", "query", "N", "--color", "never"],
                settings,
                columns: 60
            )
            let lines = shown.split(whereSeparator: \.isNewline)
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.count <= 60 })
            #expect(lines.last?.hasSuffix("…") == true)
        }
    }

    @Test("A table's head stands out on a terminal, unless NO_COLOR or --color says otherwise")
    func tableColors() async throws {
        try await ServedCloud.run { cloud in
            let settings = try cloud.settings(of: "ada")
            let bold = "\u{1B}[1m"
            func shows(_ arguments: [String], _ more: [String: String] = [:]) throws -> Bool {
                try PseudoTerminal.show(
                    ["zones", "list"] + arguments,
                    settings.merging(more) { $1 }
                ).contains(bold)
            }
            #expect(try shows([]))
            #expect(try !shows([], ["NO_COLOR": "1"]))
            #expect(try shows([], ["NO_COLOR": ""]))
            #expect(try !shows([], ["TERM": "dumb"]))
            #expect(try shows(["--color", "always"], ["NO_COLOR": "1"]))
            #expect(try !shows(["--color=never"]))
            let piped = try await cloud.run("zones", "list")
            #expect(!piped.output.contains("\u{1B}"))
            let forced = try await cloud.run("zones", "list", "--color", "always")
            #expect(forced.output.contains(bold))
        }
    }

    @Test("A bar is drawn in place on a terminal, and once at the end where a program reads it")
    func progress() async throws {
        try await ServedCloud.run { cloud in
            let file = try cloud.file("photo", String(repeating: "photo", count: 400_000))
            let arguments = ["assets", "upload", file, "--type", "Photo", "--field", "image"]
            let settings = try cloud.settings(of: "ada")
            let shown = try PseudoTerminal.show(arguments, settings, showsErrors: true)
            let drawn = shown.split(separator: "\r").filter { $0.contains("uploading photo [") }
            #expect(drawn.count >= 2, "\(shown)")
            #expect(drawn.last?.contains("##] 100 %") == true)
            #expect(drawn.dropLast().allSatisfy { !$0.contains("\n") && !$0.contains("100 %") })
            let piped = try await CommandProcess.run(arguments, settings: settings)
            let lines = piped.errors.split(separator: "\n").filter { $0.contains("uploading") }
            #expect(lines.count == 1)
            #expect(lines.first?.hasSuffix("100 %") == true)
            #expect(!piped.errors.contains("\r"))
        }
    }

    @Test("On a terminal, too, a file that is too large is refused before all of it is sent")
    func largeFile() async throws {
        try await ServedCloud.run { cloud in
            let file = cloud.path("large")
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.truncate(atOffset: 60_000_000)
            try handle.close()
            let shown = try PseudoTerminal.show(
                ["assets", "upload", file, "--type", "Photo", "--field", "image"],
                try cloud.settings(of: "ada"),
                showsErrors: true
            )
            #expect(!shown.contains("100 %"))
            #expect(shown.contains("\u{1B}[1;31mError:\u{1B}[0m"))
        }
    }

    @Test("A server whose terminal goes ends as with Ctrl-C")
    func hangUp() async throws {
        let data = FileManager.default.temporaryDirectory
            .appendingPathComponent("TerminalTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: data) }
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let key = data.appendingPathComponent("key")
        try Data("a key that only tests know".utf8).write(to: key)
        let end = try PseudoTerminal.end(
            [
                "serve", "--data", data.path, "--port", "0", "--user", "Ada",
                "--admin-key-file", key.path, "--container", "iCloud.t",
            ],
            with: SIGHUP,
            after: "/_/?container=iCloud.t\r\n"
        )
        #expect(end.status == 0)
    }

    @Test(
        "A command that is interrupted at the question for a password lets the terminal show again",
        arguments: [SIGINT, SIGTERM]
    )
    func interruptedPassword(signal: CInt) async throws {
        try await ServedCloud.run { cloud in
            let end = try PseudoTerminal.end(
                ["users", "add", "Grace", "--data", cloud.data],
                with: signal,
                after: "Password: "
            )
            #expect(end.isEchoing)
            #expect(end.status == signal)
        }
    }

    @Test("The word Error is red on a terminal, and plain where a program reads it")
    func errorColors() async throws {
        let shown = try PseudoTerminal.show(["recrods"], showsErrors: true)
        #expect(shown.hasPrefix("\u{1B}[1;31mError:\u{1B}[0m There is no command"))
        let piped = try await CommandProcess.run(["recrods"])
        #expect(piped.errors.hasPrefix("Error: There is no command"))
    }
}
#endif
