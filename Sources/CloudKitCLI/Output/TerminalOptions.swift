import ArgumentParser

/// The options for colors in the output.
struct TerminalOptions: ParsableArguments {
    @Option(
        help: """
            Whether to use colors: auto, the default, on a terminal unless NO_COLOR is set; always; \
            never.
            """
    )
    var color: ColorChoice?
}

/// The choices for colors.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// Creates the options from the arguments of a process, even invalid ones, so that they also
    /// apply to the error about them.
    init(arguments: [String]) {
        let own = arguments.prefix { $0 != "--" }
        var found = ColorChoice.auto
        for (place, argument) in own.enumerated() {
            if argument.hasPrefix("--color=") {
                found = ColorChoice(rawValue: String(argument.dropFirst(8))) ?? found
            } else if argument == "--color", place + 1 < own.count {
                found = ColorChoice(rawValue: own[place + 1]) ?? found
            }
        }
        self = found
    }
}
