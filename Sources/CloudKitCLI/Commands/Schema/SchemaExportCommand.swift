import ArgumentParser
import CloudKitServerCore
import Foundation

/// Prints the schema of an environment.
struct SchemaExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the schema of an environment in a server's data."
    )

    @Option(name: .customLong("output"), help: "A file to write instead.")
    var file: String?

    @OptionGroup(title: "Data")
    var place: EnvironmentOptions

    func run() async throws {
        let service = try place.folder.open()
        let text = try await service.exportSchema(
            container: try await place.folder.containerName(service),
            environment: try place.kind
        )
        guard let file else { return try Console.write(text.trimmingSuffix("\n")) }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw CommandFailure(unusable: "\(file) cannot be written: \(error)")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
