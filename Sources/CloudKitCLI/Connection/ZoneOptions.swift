import ArgumentParser
import CloudKitWebClient

/// Which zone of a database a command works on.
struct ZoneOptions: ParsableArguments {
    @OptionGroup
    var database: DatabaseOptions

    @Option(help: "The zone's name; the default zone when it is left out.")
    var zone: String?

    @Option(help: "The user record name of the zone's owner, in the shared database.")
    var owner: String?

    /// The zone's identity.
    var zoneID: WireZoneID {
        WireZoneID(zoneName: zone ?? WireZoneID.defaultZoneName, ownerRecordName: owner)
    }
}
