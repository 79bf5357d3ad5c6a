import ArgumentParser
import CloudKitWebClient

/// A command that deletes zones with everything in them.
struct ZonesDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete zones, with every record in them."
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
            operations: names.map { .init(.delete, WireZoneID(zoneName: $0)) }
        )
        let zones = try await client.modifyZones(request, in: place.scope(client)).zones
        try output.write(zones) { zones in
            var table = Table("deleted")
            for zone in zones { table.add([zone.zoneID.zoneName]) }
            return table
        }
    }
}
