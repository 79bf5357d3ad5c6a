/// The body of `zones/modify`.
public struct ModifyZonesRequest: Hashable, Sendable, Codable {
    /// One change to one zone.
    public struct Operation: Hashable, Sendable, Codable {
        /// The kinds of changes to a zone.
        public enum OperationType: String, Hashable, Sendable, Codable {
            /// Creates the zone; leaves an existing one as it is.
            case create
            /// Deletes the zone with all its records.
            case delete
        }

        /// The kind of change.
        public var operationType: OperationType
        /// The zone to change.
        public var zone: WireZone

        /// Creates an operation.
        public init(_ operationType: OperationType, _ zoneID: WireZoneID) {
            self.operationType = operationType
            zone = WireZone(zoneID: zoneID)
        }
    }

    /// The changes, at most one for a zone.
    public var operations: [Operation]

    /// Creates a request.
    public init(operations: [Operation]) {
        self.operations = operations
    }
}
