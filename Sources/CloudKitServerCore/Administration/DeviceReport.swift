public import CloudKitWire

/// A device that asked a service for something, as operators look at it.
public struct DeviceReport: Hashable, Sendable, Codable {
    /// The place up to which a device has read a zone.
    public struct Zone: Hashable, Sendable, Codable {
        /// The zone's name.
        public var zoneName: String
        /// The user record name of the zone's owner.
        public var ownerRecordName: String
        /// The database through which the device reads it.
        public var database: DatabaseScope
        /// The time of its last fetch, in milliseconds since 1970-01-01 UTC.
        public var lastFetch: Int64
        /// The number of the last change in a response to it.
        public var place: Int64
        /// The number of the zone's newest change.
        public var newest: Int64
        /// The number of records that changed since, at least as many as a fetch would return.
        public var behind: Int64
        /// `true` when its token is of an earlier generation of the zone, so that it fetches from the beginning.
        public var isExpired: Bool
    }

    /// The environment of its requests.
    public var environment: ServiceEnvironment
    /// The user it acts for.
    public var userRecordName: String
    /// The name that it gives itself; nil for all clients of the user that give none.
    public var clientID: String?
    /// The time of its last request, in milliseconds since 1970-01-01 UTC.
    public var lastSeen: Int64
    /// The zones that it reads, by name.
    public var zones: [Zone]
}

/// The devices that a service has seen since it began.
struct DeviceReports: Sendable {
    let context: ServiceContext

    /// The devices of a container that this service has seen since it began, the latest first.
    func all(of container: String) async throws -> [DeviceReport] {
        try await context.storage.read { reader in
            let rows = try ContainerDirectory(container).environments(reader)
            return try context.devices.devices(of: Set(rows.map(\.id))).compactMap { device in
                guard let user = try reader.user(device.key.user),
                    let row = rows.first(where: { $0.id == device.key.environment })
                else { return nil }
                return DeviceReport(
                    environment: row.kind,
                    userRecordName: user.recordName,
                    clientID: device.key.client,
                    lastSeen: device.lastSeen,
                    zones: try device.places.compactMap {
                        try Self.report($0, $1, of: user.id, reader)
                    }
                    .sorted {
                        ($0.zoneName, $0.ownerRecordName) < ($1.zoneName, $1.ownerRecordName)
                    }
                )
            }
        }
    }

    /// Returns how far a user's place is behind its zone; nil when the zone was deleted.
    private static func report(
        _ id: RowID<StoredZone>,
        _ place: DeviceDirectory.Place,
        of user: RowID<StoredUser>,
        _ reader: any StorageReader
    ) throws -> DeviceReport.Zone? {
        guard let zone = try reader.zone(id), !zone.isDeleted,
            let database = try reader.database(zone.database),
            let owner = try database.owner.flatMap({ try reader.user($0) })
        else { return nil }
        let isExpired = place.incarnation != zone.incarnation &+ database.incarnation
        // Numbers have gaps, so the changes are counted.
        let start = isExpired ? 0 : place.sequence
        let changes = try reader.changeCount(zone.id, after: start)
        let sightings = try reader.sightings(zone.id, of: user, after: start, limit: .max).count
        return DeviceReport.Zone(
            zoneName: zone.name,
            ownerRecordName: owner.recordName,
            database: place.scope,
            lastFetch: place.time,
            place: place.sequence,
            newest: zone.headSequence,
            behind: Int64(changes + sightings),
            isExpired: isExpired
        )
    }
}
