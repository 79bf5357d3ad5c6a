import ArgumentParser
import CloudKitServerCore

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
