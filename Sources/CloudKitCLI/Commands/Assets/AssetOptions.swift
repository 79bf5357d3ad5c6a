import ArgumentParser

/// Which file of which record a command is about.
struct AssetOptions: ParsableArguments {
    @Argument(help: "The file on this machine.")
    var file: String

    @Option(help: "The field.")
    var field: String
}
