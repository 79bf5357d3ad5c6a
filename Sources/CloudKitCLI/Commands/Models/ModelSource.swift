import CloudKitCoreData
import Foundation

/// The source of a Core Data model: a model's file or folder, or a store that holds a copy of its model.
struct ModelSource {
    let name: String
    let model: CoreDataModel

    /// Creates a source by reading a model.
    ///
    /// - Parameters:
    ///   - path: The model's file or folder.
    ///   - store: The store's file, instead of it.
    ///   - version: The version in a folder of several; nil for the current one.
    /// - Throws: `CommandFailure` for a model that cannot be read.
    init(_ path: String?, store: String?, version: String?) throws {
        do {
            switch (path, store) {
            case (let path?, nil):
                name = path
                let versions = try CoreDataModelVersions(contentsOf: URL(fileURLWithPath: path))
                model = try version.map { try versions.model(named: $0) } ?? versions.current
            case (nil, let store?):
                guard version == nil else {
                    throw CommandFailure(unusable: "--model-version is for models, not for stores")
                }
                name = store
                model = try CoreDataModel(cachedInStoreAt: URL(fileURLWithPath: store))
            case (.some, .some):
                throw CommandFailure(unusable: "give a model or --store, not both")
            case (nil, nil):
                throw CommandFailure(unusable: "give a model, such as App.xcdatamodeld, or --store")
            }
        } catch let error as CoreDataModelError {
            throw CommandFailure(unusable: error.description)
        }
    }

    /// Prints the parts of the model that are unknown here.
    func sayUnknownParts() {
        let parts = model.unknownParts
        guard !parts.isEmpty else { return }
        let shown = parts.prefix(5).map { "  \($0)" }.joined(separator: "\n")
        let more = parts.count > 5 ? "\n  and \(parts.count - 5) more" : ""
        let count = Amount.text(parts.count, "part")
        let verb = parts.count == 1 ? "is" : "are"
        Console.say("\(count) of \(name) \(verb) not known here:\n\(shown)\(more)")
    }
}
