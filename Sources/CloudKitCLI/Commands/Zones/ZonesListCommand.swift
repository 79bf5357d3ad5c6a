import ArgumentParser
import CloudKitWebClient

/// A command that prints the zones of a database.
struct ZonesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the zones of a database."
    )

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.connection.client()
        let zones = try await client.listZones(in: place.scope(client)).zones
        try output.write(zones, ZoneTable.list)
    }
}
