import ArgumentParser
import CloudKitCoreData

/// A command that compares two versions of a model.
struct ModelDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the changes in a version of a model, for stores and for CloudKit.",
        discussion: """
            Each line shows whether Core Data migrates the change automatically. The status is 1 \
            when the versions differ.
            """
    )

    /// A change in the output of `--json`.
    private struct Entry: Encodable {
        let change, entity: String
        let property: String?
        let text: String
        let migratesByItself: Bool
        let reason, cloudEffect: String?
    }

    @Argument(help: "The old model, or the folder of both versions.")
    var old: String

    @Argument(help: "The new model, if it is in another file or folder.")
    var new: String?

    @Option(help: "The old version; the current one by default.")
    var from: String?

    @Option(help: "The new version; the current one by default.")
    var to: String?

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let before = try ModelSource(old, store: nil, version: from)
        let after = try ModelSource(new ?? old, store: nil, version: to)
        let changes = before.model.changes(to: after.model)
        guard !changes.isEmpty else { return }
        try CommandFailure.differ { for change in changes { try write(change) } }
    }

    private func write(_ change: CoreDataModelChange) throws {
        guard output.json else {
            return try Console.write(DisplayText("\(change.kind.rawValue) \(change)").text)
        }
        var reason: String?
        if case .needsMapping(let text) = change.migration { reason = text }
        try output.write(
            Entry(
                change: change.kind.rawValue,
                entity: change.entity,
                property: change.property,
                text: change.text,
                migratesByItself: reason == nil,
                reason: reason,
                cloudEffect: change.cloudEffect
            )
        )
    }
}
