import CloudKitWire

/// A new beginning of an environment whose contents were set back: all earlier change tokens expire,
/// and the numbers of changes go on above every number that was used before.
///
/// Change tags are made of these numbers. If one were used again, a client with a version from
/// before would overwrite another version that has the same tag, without a conflict.
struct EnvironmentRestart {
    private let environment: StoredEnvironment
    private let sequence: Int64

    /// Prepares a new beginning, before the contents change.
    ///
    /// - Parameters:
    ///   - environment: The environment.
    ///   - now: The time in milliseconds since 1970-01-01 UTC. In microseconds it is above all numbers
    ///     that were used after a backup and that the restored storage does not know, because no
    ///     zone had a million changes in each second of its life.
    ///   - reader: The storage, which knows all other numbers.
    /// - Throws: `StorageError`.
    init(_ environment: StoredEnvironment, now: Int64, _ reader: any StorageReader) throws {
        self.environment = environment
        var highest = min(max(now, 0), 1 << 50) * 1000
        for database in try reader.databases(environment.id) {
            highest = max(highest, database.headSequence)
            for zone in try Self.zones(database, reader) {
                highest = max(highest, zone.headSequence)
            }
        }
        sequence = highest
    }

    /// Starts a new incarnation, and creates the default zones that are missing; zones that a snapshot
    /// has of a user who was deleted since do not come back.
    func begin(_ incarnation: Int64, _ writer: any StorageWriter) throws {
        try writer.setIncarnation(environment.id, incarnation)
        for var database in try writer.databases(environment.id) {
            try writer.setHeadSequence(database.id, sequence)
            database.headSequence = sequence
            for var zone in try Self.zones(database, writer) {
                zone.headSequence = sequence
                try writer.updateZone(zone)
            }
            let owner = try database.owner.flatMap { try writer.user($0) }
            if owner?.container.isEmpty == true {
                for zone in try writer.zones(database.id) { try writer.removeZone(zone) }
            } else if try writer.zone(database.id, name: WireZoneID.defaultZoneName) == nil {
                try ContainerDirectory.addDefaultZone(to: database, writer)
            }
        }
    }

    /// Returns the zones of a database, including deleted ones.
    private static func zones(
        _ database: StoredDatabase,
        _ reader: any StorageReader
    ) throws -> [StoredZone] {
        try reader.changedZones(database.id, after: -1, limit: .max)
    }
}
