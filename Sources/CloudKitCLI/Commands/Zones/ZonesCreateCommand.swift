import ArgumentParser
import CloudKitWebClient

/// A command that creates zones.
struct ZonesCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create zones; an existing one does not change."
    )

    @Argument(help: "The zones' names.")
    var names: [String]

    @OptionGroup(title: "Place")
    var place: DatabaseOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let client = try place.connection.client()
        let request = ModifyZonesRequest(
            operations: names.map { .init(.create, WireZoneID(zoneName: $0)) }
        )
        let zones = try await client.modifyZones(request, in: place.scope(client)).zones
        try output.write(zones, ZoneTable.list)
    }
}
