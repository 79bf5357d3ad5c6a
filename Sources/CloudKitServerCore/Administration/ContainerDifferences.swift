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
