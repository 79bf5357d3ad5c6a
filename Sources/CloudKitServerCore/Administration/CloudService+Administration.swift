import CloudKitWire

// Functions for operators and tests; none of them is available over the service's own protocol.
extension CloudService {
    /// Creates a container with both environments, unless it exists.
    public func addContainer(_ container: String) async throws {
        let incarnation = randomness.identifier()
        try await storage.write { writer in
            try Self.addContainer(container, incarnation: incarnation, writer)
        }
    }

    /// Returns the identifiers of all containers, in order.
    public func containers() async throws -> [String] {
        try await storage.read { reader in
            Set(try reader.environments().map(\.container)).sorted()
        }
    }

    /// Expires all change tokens of a container, so that its clients fetch everything again.
    ///
    /// This is necessary after a backup has been restored because clients may hold newer tokens
    /// and versions than the data. Change tags from before go on to be compared with those of the
    /// data, and no later version gets one of them.
    public func expireChangeTokens(container: String) async throws {
        let incarnation = randomness.identifier()
        let now = clock.milliseconds
        try await storage.write { writer in
            for kind in ServiceEnvironment.allCases {
                let environment = try Self.environment(container, kind, writer)
                try EnvironmentRestart(environment, now: now, writer).begin(incarnation, writer)
            }
        }
    }

    static func environment(
        _ container: String,
        _ kind: ServiceEnvironment,
        _ reader: any StorageReader
    ) throws -> StoredEnvironment {
        try ContainerDirectory(container).environment(kind, reader)
    }

    static func addContainer(
        _ container: String,
        incarnation: Int64,
        _ writer: any StorageWriter
    ) throws {
        try ContainerDirectory(container).add(incarnation: incarnation, writer)
    }
}
