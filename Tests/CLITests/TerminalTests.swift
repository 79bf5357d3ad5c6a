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

    @Test("The word Error is red on a terminal, and plain where a program reads it")
    func errorColors() async throws {
        let shown = try PseudoTerminal.show(["recrods"], showsErrors: true)
        #expect(shown.hasPrefix("\u{1B}[1;31mError:\u{1B}[0m There is no command"))
        let piped = try await CommandProcess.run(["recrods"])
        #expect(piped.errors.hasPrefix("Error: There is no command"))
    }
}
#endif
