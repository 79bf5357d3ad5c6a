public import CloudKitWire

/// A summary of a container's contents.
public struct ContainerOverview: Hashable, Sendable, Codable {
    /// A summary of one environment's contents.
    public struct Environment: Hashable, Sendable, Codable {
        /// The environment: development or production.
        public var environment: ServiceEnvironment
        /// The number of zones in all databases.
        public var zones: Int
        /// The number of records in those zones.
        public var records: Int
        /// The bytes of those records and their assets, as quotas count them.
        public var bytes: Int64
        /// The names of the record types.
        public var recordTypes: [String]
    }

    /// The container's identifier.
    public var container: String
    /// The number of users.
    public var users: Int
    /// The container's environments.
    public var environments: [Environment]
}

extension CloudService {
    /// Returns a summary of each container for operators.
    ///
    /// Records are counted by the index of names, which every type has, so that no record is read.
    public func overview() async throws -> [ContainerOverview] {
        try await storage.read { reader in
            let rows = Dictionary(grouping: try reader.environments(), by: \.container)
            return try rows.sorted { $0.key < $1.key }.map { container, environments in
                ContainerOverview(
                    container: container,
                    users: try reader.users(container: container).count,
                    environments: try environments.sorted { $0.kind.rawValue < $1.kind.rawValue }
                        .map { try Self.overview($0, reader) }
                )
            }
        }
    }

    private static func overview(
        _ environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws -> ContainerOverview.Environment {
        let types = try Schema(reader.schema(environment.id)).types
        let zones = try reader.zones(environment.id).filter { !$0.isDeleted }
        var records = 0
        for zone in zones where zone.headSequence > 0 {
            for type in types.values {
                records += try reader.entryCount(
                    IndexScan(zone: zone.id, index: type.nameIndex, limit: .max)
                )
            }
        }
        return ContainerOverview.Environment(
            environment: environment.kind,
            zones: zones.count,
            records: records,
            bytes: zones.reduce(0) { $0 + $1.bytes },
            recordTypes: types.keys.sorted()
        )
    }
}
