import ArgumentParser
import CloudKitCodable
import CloudKitCoreData
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// A command that works with schemas, in files and in the data of a local server.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Check, compare, import, export and deploy schemas.",
        discussion: """
            The exit status is 0 for a valid schema and for equal ones, 1 for an invalid one, for \
            differences and for a refused change, and 2 when a source cannot be read.
            """,
        subcommands: [
            SchemaValidateCommand.self, SchemaDiffCommand.self, SchemaCheckCommand.self,
            SchemaFromModelCommand.self, SchemaImportCommand.self, SchemaExportCommand.self,
            SchemaDeployCommand.self,
        ]
    )
}

/// A command that checks whether a file is a schema.
struct SchemaValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check whether a file is a schema."
    )

    /// The output for programs.
    private struct Verdict: Encodable {
        var valid: Bool
        var line: Int?
        var column: Int?
        var message: String?
    }

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let schema = try SchemaFile(path: file)
        do {
            try CloudService.validateSchema(schema.text)
        } catch {
            if output.json {
                try output.write(
                    Verdict(
                        valid: false,
                        line: error.line,
                        column: error.column,
                        message: error.message
                    )
                )
                throw CommandFailure(nil)
            }
            throw CommandFailure("\(file), \(error)")
        }
        if output.json {
            try output.write(Verdict(valid: true))
        } else {
            try Console.write("\(file) is a schema")
        }
    }
}

/// A command that compares two schemas.
struct SchemaDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the differences between two schemas; the status is 1 when they differ.",
        discussion: """
            A schema is a file, or the folder of a server or the URL of its database, with the \
            development environment unless :production follows, as in ./cloud:production.
            """
    )

    @Argument(help: "The old schema.")
    var old: String

    @Argument(help: "The new schema.")
    var new: String

    @Option(help: "The container in data with several.")
    var container: String?

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let old = try await SchemaSource(old, container: container)
        let new = try await SchemaSource(new, container: container)
        let changes = try CloudService.schemaChanges(from: old.text, to: new.text)
        guard !changes.isEmpty else { return try SchemaChangeEntry.write(changes, output) }
        try CommandFailure.differ { try SchemaChangeEntry.write(changes, output) }
    }
}

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

    @Argument(help: "The required schema: a file, or the folder or the database of a server.")
    var needed: String?

    @Option(
        name: [.customLong("against"), .customLong("schema")],
        help: "The deployed schema: a file, a folder, or a database."
    )
    var deployed: String

    @Option(help: "A Core Data model instead of a schema: App.xcdatamodeld.")
    var model: String?

    @OptionGroup(title: "Model")
    var options: MirroringOptions

    @Option(help: "The container in data with several.")
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
        let needed = try await SchemaSource(needed, container: container)
        let missing = try CloudService.schemaChanges(from: deployed.text, to: needed.text)
            .filter { $0.kind != .removed }
        try SchemaChangeEntry.write(missing, output)
        guard missing.isEmpty else {
            throw CommandFailure("\(deployed.name) lacks parts of \(needed.name); deploy it first")
        }
    }

    /// Compares a deployed schema with the requirements of a model.
    private func check(_ deployed: SchemaSource) throws {
        let source = try options.source(model)
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

/// A command that prints the schema that a Core Data or SwiftData model needs.
struct SchemaFromModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-model",
        abstract: "Print the complete schema of a Core Data or SwiftData model.",
        discussion: """
            The schema has every part that a full initialization creates: each field with the field \
            for its large values, the fields for links and for sharing, and CloudKit's own types. An \
            import into iCloud replaces the development schema, so your own types must be in the \
            file too.
            """
    )

    @Argument(help: "The model: App.xcdatamodeld, a version in it, or a compiled one.")
    var model: String?

    @OptionGroup(title: "Model")
    var options: MirroringOptions

    @Option(name: .customLong("output"), help: "A file to write instead.")
    var file: String?

    @OptionGroup
    var overwriting: OverwriteOptions

    func run() async throws {
        if let file { try overwriting.check(file) }
        let source = try options.source(model)
        source.sayUnknownParts()
        let text: String
        do {
            text = try CloudKitSchema(mirroring: source.model, options.mirroring).text
        } catch {
            throw CommandFailure("\(source.name) has no schema: \(error.description)")
        }
        let errors = try source.model.findings(options.mirroring).count { $0.severity == .error }
        if errors > 0 {
            let things = Amount.text(errors, "thing")
            Console.say("CloudKit does not accept \(things) in the model: cloudkit model lint")
        }
        try SchemaOutput.write(text, to: file)
    }
}

/// A command that replaces the schema of an environment by a file.
struct SchemaImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Replace the schema of an environment in a server's data by a file.",
        discussion: """
            Types and fields that are not in the file are removed: in development fields with their \
            values, and types without records; in production nothing. The server may be running.
            """
    )

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let schema = try SchemaFile(path: file)
        try await schema.parsed { try CloudService.validateSchema($0) }
        let service = try await place.folder.openForWriting(isDryRun: dryRun)
        // A dry run creates neither folder nor container, and prints the schema of a new container.
        let container = try await place.folder.containerName(service)
        let kind = try place.kind
        let changes = try await service.importSchema(
            schema.text,
            container: container,
            environment: kind,
            isDryRun: dryRun
        )
        try SchemaChangeEntry.write(changes, output)
        let done = dryRun ? "would change" : "changed"
        Console.say("\(changes.count) \(done) in \(container), \(kind.rawValue)")
    }
}

/// A command that prints the schema of an environment.
struct SchemaExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the schema of an environment in a server's data."
    )

    @Option(name: .customLong("output"), help: "A file to write instead.")
    var file: String?

    @OptionGroup
    var overwriting: OverwriteOptions

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    func run() async throws {
        if let file { try overwriting.check(file) }
        let service = try await place.folder.open()
        let text = try await service.exportSchema(
            container: try await place.folder.containerName(service),
            environment: try place.kind
        )
        try SchemaOutput.write(text, to: file)
    }
}

/// A command that copies the development schema to production.
struct SchemaDeployCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Copy types, fields, indexes and roles from development to production.",
        discussion: "No data is copied, and production keeps its existing types and fields."
    )

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @OptionGroup(title: "Data")
    var folder: DataOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let service = try await folder.openForWriting(isDryRun: dryRun)
        let container = try await folder.containerName(service)
        let changes = try await service.deploySchema(container: container, isDryRun: dryRun)
        try SchemaChangeEntry.write(changes, output)
        let done = dryRun ? "would change" : "changed"
        Console.say("\(changes.count) \(done) in \(container), production")
    }
}
