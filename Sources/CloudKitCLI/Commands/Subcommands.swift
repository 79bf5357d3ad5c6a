import ArgumentParser
import CloudKitWire

/// The check that refuses a mistyped subcommand, which the parser would take for an extra argument,
/// and suggests a similar one.
enum Subcommands {
    /// Follows the arguments to the command that they name.
    ///
    /// - Throws: `CommandFailure` for a word that is not a command, and for a negative time span.
    static func check(_ arguments: [String], of root: any ParsableCommand.Type) throws {
        var words = arguments[...]
        try checkTimeSpan(arguments)
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

    /// Refuses a negative time span, whose hours the parser takes for `-h`, and so for a call for help.
    private static func checkTimeSpan(_ arguments: [String]) throws {
        guard arguments.starts(with: ["clock", "advance"]),
            let span = arguments.first(where: {
                $0.hasPrefix("-") && TimeSpan(argument: "\($0.dropFirst())") != nil
            })
        else { return }
        throw CommandFailure(
            unusable: "\(span): a clock moves forward; give a time span such as 90s, 15m, 1h or 30d"
        )
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }
}
