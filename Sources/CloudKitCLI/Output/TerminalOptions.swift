import ArgumentParser

/// Whether what is printed has colours.
struct TerminalOptions: ParsableArguments {
    @Option(
        help: """
            Whether there are colours: auto, the default, on a terminal unless NO_COLOR is set; \
            always; never.
            """
    )
    var color: ColorChoice?
}

/// When there are colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// What the arguments of a process ask for, also those that cannot be understood otherwise: an error
    /// about them has colours or none, too.
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
