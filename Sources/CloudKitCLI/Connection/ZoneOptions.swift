import ArgumentParser
import CloudKitWebClient

/// The zone of a database that a command works on.
///
/// It declares the database itself: in debug builds, ArgumentParser examines groups within groups four times as often
/// with each level.
struct ZoneOptions: ParsableArguments, DatabaseSelection {
    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @Option(help: .database)
    var database: DatabaseScope?

    @Option(help: "The zone's name; the default zone by default.")
    var zone: String?

    @Option(help: "The user record name of the zone's owner, in the shared database.")
    var owner: String?

    /// The zone's identity.
    var zoneID: WireZoneID {
        WireZoneID(zoneName: zone ?? WireZoneID.defaultZoneName, ownerRecordName: owner)
    }
}
