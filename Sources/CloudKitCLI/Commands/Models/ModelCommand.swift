import ArgumentParser
import CloudKitCoreData

/// A command that works with the models of Core Data and SwiftData.
struct ModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Check and compare models of Core Data and SwiftData.",
        discussion: """
            The exit status is 1 for a model that CloudKit does not accept, and for versions that \
            differ, and 2 when a model cannot be read.
            """,
        subcommands: [ModelLintCommand.self, ModelDiffCommand.self]
    )
}

/// A command that lists the parts of a model that CloudKit forbids.
struct ModelLintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "List the parts of a model that CloudKit forbids, with the remedies.",
        discussion: "The status is 1 when there is an error; warnings alone do not change it."
    )

    /// A finding in the output of `--json`.
    private struct Entry: Encodable {
        let severity, rule, entity: String
        let property: String?
        let message, remedy: String
    }

    @Argument(help: "The model: App.xcdatamodeld, a version in it, or a compiled one.")
    var model: String?

    @OptionGroup(title: "Model")
    var options: MirroringOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let source = try options.source(model)
        source.sayUnknownParts()
        let findings = try source.model.findings(options.mirroring)
        for finding in findings {
            if output.json {
                try output.write(
                    Entry(
                        severity: finding.severity.rawValue,
                        rule: finding.rule.rawValue,
                        entity: finding.entity,
                        property: finding.property,
                        message: finding.message,
                        remedy: finding.remedy
                    )
                )
            } else {
                try Console.write(DisplayText(finding.description).text)
            }
        }
        let errors = findings.count { $0.severity == .error }
        guard errors == 0 else {
            throw CommandFailure(
                Amount.text(errors, "error keeps", "errors keep")
                    + " \(source.name) from syncing with CloudKit"
            )
        }
    }
}

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
        if new == nil, from == to {
            throw CommandFailure(
                unusable:
                    "there is nothing to compare: give a second model, or another version with "
                    + "--from or --to"
            )
        }
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
