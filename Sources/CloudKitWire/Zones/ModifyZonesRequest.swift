/// The body of `zones/modify`.
public struct ModifyZonesRequest: Hashable, Sendable, Codable {
    /// One change to one zone.
    public struct Operation: Hashable, Sendable, Codable {
        /// What is done to the zone.
        public enum OperationType: String, Hashable, Sendable, Codable {
            /// Makes the zone; an existing one is left as it is.
            case create
            /// Deletes the zone with all its records.
            case delete
        }

        /// What is done.
        public var operationType: OperationType
        /// The zone it is done to.
        public var zone: WireZone

        /// Makes an operation.
        public init(_ operationType: OperationType, _ zoneID: WireZoneID) {
            self.operationType = operationType
            zone = WireZone(zoneID: zoneID)
        }
    }

    /// The changes, at most one for a zone.
    public var operations: [Operation]

    /// Makes a request.
    public init(operations: [Operation]) {
        self.operations = operations
    }
}
