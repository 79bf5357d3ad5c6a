import CloudKitWire

/// The containers of a service.
struct Containers: Sendable {
    let context: ServiceContext

    /// Creates a container with both environments, unless it exists.
    func add(_ container: String) async throws {
        let incarnation = context.randomness.identifier()
        try await context.storage.write { writer in
            try ContainerDirectory(container).add(incarnation: incarnation, writer)
        }
    }

    /// Returns the identifiers of all containers, in order.
    func all() async throws -> [String] {
        try await context.storage.read { reader in
            Set(try reader.environments().map(\.container)).sorted()
        }
    }

    /// Expires all change tokens of a container, so that its clients fetch everything again.
    func expireChangeTokens(of container: String) async throws {
        let incarnation = context.randomness.identifier()
        let now = context.clock.milliseconds
        try await context.storage.write { writer in
            for environment in try ContainerDirectory(container).environments(writer) {
                try EnvironmentRestart(environment, now: now, writer).begin(incarnation, writer)
            }
        }
    }

    /// Returns a summary of each container for operators.
    func overview() async throws -> [ContainerOverview] {
        try await context.storage.read { reader in
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
