import ArgumentParser
import CloudKitCoreData

/// The options of a model's version and its mirroring.
struct MirroringOptions: ParsableArguments {
    @Option(help: "A store that holds a copy of its model, such as default.store.")
    var store: String?

    @Option(help: "The version of the model; the current one by default.")
    var modelVersion: String?

    @Option(help: "The configuration that is mirrored; all entities by default.")
    var configuration: String?

    @Flag(help: "The model is mirrored to the public database.")
    var publicDatabase = false

    @Flag(help: "The app shares nothing, so the parts for sharing may be missing.")
    var withoutSharing = false

    /// The mirroring that the options describe.
    var mirroring: CoreDataMirroring {
        CoreDataMirroring(
            database: publicDatabase ? .public : .private,
            configuration: configuration,
            isShared: !withoutSharing
        )
    }
}
