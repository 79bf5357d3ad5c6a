public import ArgumentParser

/// The command line: a server, and what can be done with one.
public struct CloudKitCommand: AsyncParsableCommand {
    /// Names the command and its parts.
    public static let configuration = CommandConfiguration(
        commandName: "cloudkit",
        abstract: "CloudKit on your own machine.",
        subcommands: [ServeCommand.self, ExecCommand.self, DemoCommand.self]
    )

    /// Makes the command.
    public init() {}
}
