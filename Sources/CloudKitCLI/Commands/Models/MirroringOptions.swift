import ArgumentParser
import CloudKitCoreData

/// Which version of a model counts, and what an app does with it.
struct MirroringOptions: ParsableArguments {
    @Option(help: "A store that holds a copy of its model, such as default.store.")
    var store: String?

    @Option(help: "The version of the model, where it is not the current one.")
    var modelVersion: String?

    @Option(help: "The configuration that is mirrored, where it is not all entities.")
    var configuration: String?

    @Flag(help: "The model is mirrored to the public database.")
    var publicDatabase = false

    @Flag(help: "The app shares nothing, so that what sharing needs may be missing.")
    var withoutSharing = false

    /// What the options say.
    var mirroring: CoreDataMirroring {
        CoreDataMirroring(
            database: publicDatabase ? .public : .private,
            configuration: configuration,
            isShared: !withoutSharing
        )
    }
}
