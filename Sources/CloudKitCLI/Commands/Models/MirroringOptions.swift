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

    /// Returns the model in a file or folder, or in the store.
    ///
    /// - Parameter path: The model's file or folder.
    /// - Returns: The model with its name.
    /// - Throws: `CommandFailure` for a model that cannot be read, that has no entities, or that lacks the configuration.
    func source(_ path: String?) throws -> ModelSource {
        let source = try ModelSource(path, store: store, version: modelVersion)
        let entities: [CoreDataModel.Entity]
        do {
            entities = try source.model.entities(ofConfiguration: configuration)
        } catch {
            throw CommandFailure(unusable: "\(source.name): \(error.description)")
        }
        guard !entities.isEmpty else {
            let part = configuration.map { "the configuration \($0)" } ?? "the model"
            throw CommandFailure(
                unusable:
                    "\(source.name): \(part) has no entities; name the file of the app's model"
            )
        }
        return source
    }
}
