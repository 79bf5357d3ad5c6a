import ArgumentParser
import CloudKitWebClient

/// A command that lists, creates and deletes zones.
struct ZonesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones",
        abstract: "List, create and delete zones.",
        subcommands: [ZonesListCommand.self, ZonesCreateCommand.self, ZonesDeleteCommand.self]
    )
}

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
