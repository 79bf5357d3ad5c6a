public import CloudKitWire

/// How much a container holds.
public struct ContainerOverview: Hashable, Sendable, Encodable {
    /// What one environment of it holds.
    public struct Environment: Hashable, Sendable, Encodable {
        /// Development or production.
        public var environment: ServiceEnvironment
        /// The zones of all databases.
        public var zones: Int
        /// The records of those zones.
        public var records: Int
        /// The bytes of those records and their assets, as quotas count them.
        public var bytes: Int64
        /// The names of the record types.
        public var recordTypes: [String]
    }

    /// The container's identifier.
    public var container: String
    /// How many users it has.
    public var users: Int
    /// Its environments.
    public var environments: [Environment]
}

extension CloudService {
    /// Says how much each container holds, for operators.
    ///
    /// Records are counted by the index of names that every type has, so that none of them is read.
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
