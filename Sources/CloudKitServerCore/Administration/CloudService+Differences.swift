public import CloudKitWire

/// The differences between two states of a container, for operators.
public struct ContainerDifferences: Hashable, Sendable, Codable {
    /// A record that differs, or a whole zone.
    public struct Difference: Hashable, Sendable, Codable {
        /// The kind of difference: added, changed or deleted.
        public var kind: SnapshotDifference.Kind
        /// The environment.
        public var environment: ServiceEnvironment
        /// The user record name of the database's owner; nil for the public database.
        public var ownerRecordName: String?
        /// The zone's name.
        public var zoneName: String
        /// The record's name; nil where the whole zone was added or deleted.
        public var recordName: String?
        /// The record's type.
        public var recordType: String?
    }

    /// The differences, by zone and name.
    public var differences: [Difference]
    /// A Boolean value that indicates whether there are more, which are not listed.
    public var hasMore: Bool
}

extension CloudService {
    /// Differences that are listed at most.
    private static let differencesLimit = 1000

    /// Compares a snapshot with a later one, or with what the container holds now.
    ///
    /// - Parameters:
    ///   - earlier: The snapshot's name.
    ///   - later: The other one's; nil for now.
    ///   - container: The container's identifier.
    /// - Returns: The records that differ in a value, their parent or their share, 1,000 at most.
    /// - Throws: `RequestError` with `NOT_FOUND` for an unknown container or snapshot, or `StorageError`.
    public func differences(
        from earlier: String,
        to later: String? = nil,
        of container: String
    ) async throws -> ContainerDifferences {
        try await storage.read { reader in
            for name in [earlier, later].compactMap(\.self) {
                try Self.checkSnapshot(name, of: container, reader)
            }
            let found = try reader.snapshotDifferences(
                of: container,
                from: earlier,
                to: later,
                implicitZone: WireZoneID.defaultZoneName,
                limit: Self.differencesLimit + 1
            )
            return ContainerDifferences(
                differences: try found.prefix(Self.differencesLimit).compactMap { each in
                    guard let database = try reader.database(each.database),
                        let environment = try reader.environment(database.environment)
                    else { return nil }
                    return ContainerDifferences.Difference(
                        kind: each.kind,
                        environment: environment.kind,
                        ownerRecordName: try database.owner
                            .flatMap { try reader.user($0)?.recordName },
                        zoneName: each.zone,
                        recordName: each.record,
                        recordType: each.type
                    )
                },
                hasMore: found.count > Self.differencesLimit
            )
        }
    }
}
