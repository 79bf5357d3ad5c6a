import CloudKitWebClient

/// Zones as tables for people.
enum ZoneTable {
    /// Returns a table with a row for each zone.
    static func list(_ zones: [WireZone]) -> Table {
        var table = Table("zone", "owner", "atomic")
        for zone in zones {
            table.add([
                zone.zoneID.zoneName, zone.zoneID.ownerRecordName ?? "",
                zone.atomic.map { $0 ? "yes" : "no" } ?? "",
            ])
        }
        return table
    }
}
