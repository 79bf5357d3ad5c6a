import ArgumentParser
import CloudKitCoreData
import Foundation

/// A store, and the model that it is read with.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The store's file, with what belongs to it beside it.")
    var file: String

    @Option(help: "The model: App.xcdatamodeld or a version in it; the store's own unless given.")
    var model: String?

    @Option(help: "The version of the model, where it is not the current one.")
    var modelVersion: String?

    @Option(
        help: ArgumentHelp(
            "An attribute whose values may be in files, where the model does not say.",
            valueName: "Entity.attribute"
        )
    )
    var externalData: [String] = []

    @Option(
        help: ArgumentHelp(
            "An attribute whose values never are in files.",
            valueName: "Entity.attribute"
        )
    )
    var inlineData: [String] = []

    /// Opens the store.
    ///
    /// - Throws: `CommandFailure` for a store or a model that cannot be read.
    func store() throws -> CoreDataStore {
        let source = try model.map { try ModelSource($0, store: nil, version: modelVersion) }
        if source == nil, modelVersion != nil {
            throw CommandFailure(unusable: "--model-version needs --model")
        }
        var externalData: [String: Bool] = [:]
        for name in self.externalData { externalData[name] = true }
        for name in inlineData { externalData[name] = false }
        return try CoreDataStore(
            url: URL(fileURLWithPath: file),
            model: source?.model,
            externalData: externalData
        )
    }
}
