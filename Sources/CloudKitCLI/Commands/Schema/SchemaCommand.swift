import ArgumentParser

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
