import ArgumentParser

/// The record, field and file of an asset command.
struct AssetOptions: ParsableArguments {
    @Argument(help: "The file on this machine.")
    var file: String

    @Option(help: "The field.")
    var field: String
}
