import ArgumentParser
import CloudKitCoreData

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
        let source = try ModelSource(model, store: options.store, version: options.modelVersion)
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
