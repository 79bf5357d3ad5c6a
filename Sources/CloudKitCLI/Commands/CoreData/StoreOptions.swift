import ArgumentParser
import CloudKitCoreData
import Foundation

/// The options of a store and its model.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The store's file, with its companion files beside it.")
    var file: String

    @Option(help: "The model: App.xcdatamodeld or a version in it; the store's own by default.")
    var model: String?

    @Option(help: "The version of the model; the current one by default.")
    var modelVersion: String?

    @Option(
        help: ArgumentHelp(
            "An attribute whose values may be in files, if the model does not specify it.",
            valueName: "Entity.attribute"
        )
    )
    var externalData: [String] = []

    @Option(
        help: ArgumentHelp(
            "An attribute whose values are never in files.",
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
