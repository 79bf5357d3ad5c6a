import ArgumentParser
import CloudKitWire

/// The check that refuses a mistyped subcommand, which the parser would take for an extra argument,
/// and suggests a similar one.
enum Subcommands {
    /// Follows the arguments to the command that they name.
    ///
    /// - Throws: `CommandFailure` for a word that is not a command.
    static func check(_ arguments: [String], of root: any ParsableCommand.Type) throws {
        var words = arguments[...]
        if words.first == "help" { words.removeFirst() }
        var command = root
        var path = name(of: root)
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let parts = command.configuration.subcommands
            guard !parts.isEmpty else { return }
            guard let next = parts.first(where: { name(of: $0) == word }) else {
                let advice = NearestName.advice(for: word, in: parts.map(name))
                throw CommandFailure(
                    unusable: "There is no command '\(path) \(word)'"
                        + (advice.isEmpty ? "; \(path) --help lists them" : advice)
                )
            }
            command = next
            path += " " + word
        }
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }
}
