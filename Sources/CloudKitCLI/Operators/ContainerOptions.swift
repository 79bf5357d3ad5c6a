import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// A container of the running server that a command operates.
struct ContainerOptions: ParsableArguments {
    @OptionGroup
    var options: OperatorOptions

    @Option(help: "The container; CLOUDKIT_CONTAINER, or the server's only one.")
    var container: String?

    /// Returns the selected container.
    ///
    /// - Throws: `CommandFailure` when it is ambiguous.
    func selected() async throws -> OperatedContainer {
        let server = try options.server()
        let variables = ProcessInfo.processInfo.environment
        if let name = container ?? variables[ConnectionVariables.Name.container] {
            return OperatedContainer(server: server, name: name)
        }
        let names = try await server.overview().containers.map(\.container)
        guard let name = names.first, names.count == 1 else {
            let found = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw CommandFailure(unusable: "Give --container; the server has \(found)")
        }
        return OperatedContainer(server: server, name: name)
    }
}
