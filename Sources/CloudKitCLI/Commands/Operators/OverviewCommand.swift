import ArgumentParser
import CloudKitServerCore
import CloudKitWire

/// A command that prints the state of a running server.
struct OverviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overview",
        abstract: "Show a running server and the contents of its containers."
    )

    @OptionGroup(title: "Server")
    var options: OperatorOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let overview = try await options.server().overview()
        guard !output.json else { return try output.write(overview) }
        let parts = [
            overview.version.map { "Version \($0)" },
            Amount.text(overview.connections, "connection"),
            Amount.text(overview.waitingRequests, "waiting request"),
            Amount.text(overview.faultRules, "fault rule"), ValueText.date(overview.milliseconds),
        ]
        try Console.write(parts.compactMap(\.self).joined(separator: ", "))
        try output.write(
            overview.containers,
            header: "container",
            "environment",
            "users",
            "zones",
            "records",
            "bytes",
            "types"
        ) { container in
            container.environments.map {
                [
                    container.container, $0.environment.rawValue, String(container.users),
                    String($0.zones), String($0.records), String($0.bytes),
                    $0.recordTypes.joined(separator: ", "),
                ]
            }
        }
    }
}
