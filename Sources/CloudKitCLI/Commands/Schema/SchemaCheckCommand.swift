import ArgumentParser
import CloudKitCodable
import CloudKitCoreData
import CloudKitServerCore

/// A command that checks whether a deployed schema has everything that the app needs.
struct SchemaCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check whether a deployed schema includes another schema.",
        discussion: """
            Intended for CI: run the tests against a server, then compare the schema of its \
            development environment with the file of the production schema. Parts that only the file \
            has are no mistake, because an older version of the app may need them. The status is 1 \
            when a part has to be deployed first.

            With --model, or --store, the required schema is the one that Core Data or SwiftData \
            creates from that model; --schema is another name for --against.
            """
    )

    @Argument(help: "The required schema: a file, or the folder of a server.")
    var needed: String?

    @Option(
        name: [.customLong("against"), .customLong("schema")],
        help: "The deployed schema: a file, or a folder."
    )
    var deployed: String

    @Option(help: "A Core Data model instead of a schema: App.xcdatamodeld.")
    var model: String?

    @OptionGroup(title: "Model")
    var options: MirroringOptions

    @Option(help: "The container in a folder with several.")
    var container: String?

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let deployed = try await SchemaSource(deployed, container: container)
        if model != nil || options.store != nil {
            guard needed == nil else {
                throw CommandFailure(unusable: "give a schema or a model, not both")
            }
            return try check(deployed)
        }
        let needed = try await SchemaSource(needed ?? "cloudkit-data", container: container)
        let missing = try CloudService.schemaChanges(from: deployed.text, to: needed.text)
            .filter { $0.kind != .removed }
        try SchemaChangeEntry.write(missing, output)
        guard missing.isEmpty else {
            throw CommandFailure("\(deployed.name) lacks parts of \(needed.name); deploy it first")
        }
    }

    /// Compares a deployed schema with the requirements of a model.
    private func check(_ deployed: SchemaSource) throws {
        let source = try ModelSource(model, store: options.store, version: options.modelVersion)
        let differences: [CoreDataSchemaDifference]
        do {
            differences = try source.model.schemaDifferences(
                deployed: deployed.text,
                options.mirroring
            )
        } catch let error as CoreDataModelError {
            throw CommandFailure("\(source.name) has no schema: \(error.description)")
        } catch let error as CloudKitSchemaError {
            throw CommandFailure(unusable: "\(deployed.name), \(error.description)")
        }
        try SchemaDifferenceEntry.write(differences, output)
        let errors = differences.count { $0.severity == .error }
        guard errors == 0 else {
            throw CommandFailure(
                "\(deployed.name) lacks \(Amount.text(errors, "thing")) that \(source.name) needs; "
                    + "deploy \(errors == 1 ? "it" : "them") first"
            )
        }
    }
}
