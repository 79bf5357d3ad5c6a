import ArgumentParser
import CloudKitCodable
import CloudKitCoreData
import Foundation

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
        let source = try ModelSource(model, store: options.store, version: options.modelVersion)
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
