public import ArgumentParser
import CloudKitServer
import CloudKitWebClient
import Foundation

/// The command line: a server, and the operations on one.
public struct CloudKitCommand: AsyncParsableCommand {
    /// The command's configuration, with its subcommands.
    public static let configuration = CommandConfiguration(
        commandName: "cloudkit",
        abstract: "CloudKit on your own machine.",
        discussion: """
            The exit status is 0 when the work is done, 1 when it was refused, failed in part, or \
            the compared objects differ, and 2 when the arguments or a file cannot be used.

            cloudkit completion bash prints the script with which bash completes commands and \
            options; zsh and fish are supported too. Colors follow the terminal, NO_COLOR and \
            --color.
            """,
        version: PackageVersion.current,
        subcommands: [
            ServeCommand.self, ExecCommand.self,
        ] + demo + [
            RecordsCommand.self, ZonesCommand.self, SubscriptionsCommand.self, AssetsCommand.self,
            UsersCommand.self, SignInCommand.self, TokensCommand.self, SchemaCommand.self,
            ModelCommand.self, CoreDataCommand.self, ExportCommand.self, ImportCommand.self,
            SharesCommand.self, BackupCommand.self, RestoreCommand.self, CheckCommand.self,
            DataCommand.self,
            OverviewCommand.self, RequestsCommand.self, FaultsCommand.self, ClockCommand.self,
            SnapshotsCommand.self, ContainersCommand.self, DevicesCommand.self, PushesCommand.self,
            OperateCommand.self, CompletionCommand.self,
        ]
    )

    /// The commands that need sign-in to containers, which Apple's framework does not offer to programs.
    private static var demo: [any ParsableCommand.Type] {
        #if !canImport(Darwin) || PORTABLE_CLOUDKIT
        [DemoCommand.self]
        #else
        []
        #endif
    }

    /// Creates the command.
    public init() {}

    /// Runs the command in the process's arguments, and ends the process with its status.
    public static func main() async {
        Console.occupyClosedStreams()
        // Writing to a reader that has gone fails instead; see Console.
        signal(SIGPIPE, SIG_IGN)
        do {
            try Subcommands.check(Array(CommandLine.arguments.dropFirst()), of: self)
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            end(error)
        }
    }

    /// Prints an error and ends the process.
    private static func end(_ error: any Error) -> Never {
        if let failure = CommandFailure(error) {
            if let message = failure.message { Console.sayError(message) }
            Foundation.exit(failure.status.rawValue)
        }
        if exitCode(for: error) == .validationFailure, !(error is ExitCode) {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let mistyped = Subcommands.mistypedOption(arguments, of: self)
            Console.sayError(
                CommandFailure.withoutSecrets(mistyped?.message ?? fullMessage(for: error))
            )
            Foundation.exit(CommandFailure.Status.unusable.rawValue)
        }
        let message = fullMessage(for: error)
        if exitCode(for: error) == .success, !message.isEmpty {
            // The requested output, such as help or the version.
            do {
                try Console.write(message)
            } catch {
                end(error)
            }
            Foundation.exit(0)
        }
        let safe = TerminalText.lines(CommandFailure.withoutSecrets(message))
        if exitCode(for: error) == .failure, !message.isEmpty || safe != message {
            Console.sayError(safe)
            Foundation.exit(CommandFailure.Status.failed.rawValue)
        }
        exit(withError: error)
    }
}
