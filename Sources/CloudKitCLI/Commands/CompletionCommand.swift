import ArgumentParser

/// A command that prints the script with which a shell completes commands and options.
struct CompletionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the completion script of a shell.",
        discussion: """
            For bash, into a file of ~/.local/share/bash-completion/completions:

            cloudkit completion bash > ~/.local/share/bash-completion/completions/cloudkit

            For zsh, into a file _cloudkit in a folder of $fpath; for fish, into \
            ~/.config/fish/completions/cloudkit.fish.
            """
    )

    /// The supported shells.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() async throws {
        let script = CompletionShell(rawValue: shell.rawValue)
            .map(CloudKitCommand.completionScript(for:))
        try Console.write(script ?? "")
    }
}
