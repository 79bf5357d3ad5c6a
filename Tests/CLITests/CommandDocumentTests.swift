import Foundation
import Testing

@Suite("docs/reference/command-line.md")
struct CommandDocumentTests {
    /// A command as the argument parser describes it.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let names: [Name]?
        }

        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// Returns the commands without subcommands, by their path, with their options.
        func leaves(_ path: String = "") -> [String: Set<String>] {
            let path = path.isEmpty ? commandName : "\(path) \(commandName)"
            let parts = (subcommands ?? []).filter { $0.commandName != "help" }
            guard parts.isEmpty else {
                return parts.reduce(into: [:]) { leaves, part in
                    leaves.merge(part.leaves(path)) { $1 }
                }
            }
            let names = (arguments ?? []).flatMap { $0.names ?? [] }
                .filter { $0.kind == "long" }.map { "--" + $0.name }
            return [path: Set(names)]
        }
    }

    private struct Dump: Decodable {
        let command: Command
    }

    /// Returns the page's sections by the command in their heading, and the text before them.
    private func sections() throws -> (conventions: String, commands: [String: String]) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/command-line.md"),
            encoding: .utf8
        )
        var commands: [String: String] = [:]
        var conventions = ""
        var heading: String?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("### `") {
                heading = line.dropFirst("### `".count).split(separator: "`").first.map(String.init)
                commands[heading ?? ""] = ""
            } else if line.hasPrefix("## ") {
                heading = nil
            } else if let heading {
                commands[heading, default: ""] += line + "\n"
            } else {
                conventions += line + "\n"
            }
        }
        return (conventions, commands)
    }

    private func options(_ text: String) -> Set<String> {
        Set(text.matches(of: /`(--[a-z-]+)[^`]*`/).map { String($0.1) })
    }

    @Test("It has a section for each command that there is, and for no other")
    func commands() async throws {
        let dump = try await CommandProcess.run(["--experimental-dump-help"])
        let known = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
            .leaves()
        #expect(known.count > 20)
        #expect(Set(try sections().commands.keys) == Set(known.keys))
    }

    @Test("Each command takes --json but those that it names as printing something else")
    func json() async throws {
        let dump = try await CommandProcess.run(["--experimental-dump-help"])
        let known = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
            .leaves()
        let others = Set(known.filter { !$0.value.contains("--json") }.keys)
        let sentence = try #require(
            try sections().conventions.split(separator: "\n\n")
                .first { $0.contains("no `--json`") }
        )
        let named = Set(sentence.matches(of: /`([a-z -]+)`/).map { "cloudkit \($0.1)" })
        #expect(others == named.subtracting(["cloudkit --json"]))
    }

    @Test("It names each option, and none that a command does not take")
    func optionNames() async throws {
        let dump = try await CommandProcess.run(["--experimental-dump-help"])
        let known = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
            .leaves()
        let (conventions, commands) = try sections()
        let common = options(conventions)
        for (command, text) in commands {
            let taken = try #require(known[command])
            #expect(options(text).subtracting(taken) == [], "\(command) does not take these")
        }
        let named = commands.values.reduce(common) { $0.union(options($1)) }
        let every = known.values.reduce(Set()) { $0.union($1) }
            .subtracting(["--help", "--version"])
        #expect(every.subtracting(named) == [], "the page does not name these")
        #expect(common.subtracting(every) == [])
    }
}
