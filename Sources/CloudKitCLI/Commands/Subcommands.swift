import ArgumentParser
import CloudKitWire

/// The checks that refuse mistyped subcommands and options, and suggest similar ones.
///
/// The parser would take a mistyped subcommand for an extra argument, and misses an argument before
/// it notices a mistyped option.
enum Subcommands {
    /// Checks that the arguments name a command.
    ///
    /// - Throws: `CommandFailure` for a word that is not a command, and for a negative time span.
    static func check(_ arguments: [String], of root: any ParsableCommand.Type) throws {
        try checkTimeSpan(arguments)
        _ = try command(arguments, of: root)
    }

    /// Finds an option that the command does not have, and that resembles one of its own.
    ///
    /// - Parameters:
    ///   - arguments: The arguments that the parser has refused.
    ///   - root: The command to which they were given.
    /// - Returns: The failure because of the option; nil if there is none.
    static func mistypedOption(
        _ arguments: [String],
        of root: any ParsableCommand.Type
    ) -> CommandFailure? {
        // A mistyped command is refused before.
        guard let (command, path) = try? command(arguments, of: root),
            // The options of another program follow.
            command != ExecCommand.self
        else { return nil }
        let known = command.optionNames
        for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let option = "\(word.prefix { $0 != "=" })"
            let advice = NearestName.advice(for: option, in: Set(known))
            guard !known.contains(option), !advice.isEmpty else { continue }
            return CommandFailure(unusable: "\(path) has no option '\(option)'\(advice)")
        }
        return nil
    }

    /// Follows the arguments to the command that they name.
    private static func command(
        _ arguments: [String],
        of root: any ParsableCommand.Type
    ) throws -> (command: any ParsableCommand.Type, path: String) {
        var words = arguments[...]
        if words.first == "help" { words.removeFirst() }
        var command = root
        var path = name(of: root)
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let parts = command.configuration.subcommands
            guard !parts.isEmpty else { break }
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
        return (command, path)
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

extension ParsableCommand {
    /// The names of options that the help shows, for advice about a mistyped one.
    static var optionNames: [String] {
        helpMessage().matches(of: /--[a-z][a-z0-9-]*/).map { "\($0.output)" }
    }
}
