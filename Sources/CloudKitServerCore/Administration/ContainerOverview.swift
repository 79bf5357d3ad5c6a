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
