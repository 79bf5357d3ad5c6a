extension CKSyncEngine {
    /// The options of a fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones that a fetch covers.
        @nonexhaustive
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All zones.
            case all
            /// All zones except these.
            case allExcluding([CKRecordZone.ID])
            /// These zones.
            case zoneIDs([CKRecordZone.ID])

            /// Returns whether the scope contains a zone.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
                }
            }

            /// A textual representation with the zones.
            public var description: String {
                switch self {
                case .all: "all zones"
                case .allExcluding(let zoneIDs): "all zones but \(zoneIDs)"
                case .zoneIDs(let zoneIDs): "zones \(zoneIDs)"
                }
            }
        }

        /// The zones to fetch.
        public var scope: Scope

        /// The operation group of the fetch.
        public var operationGroup: CKOperationGroup

        /// The zones to fetch before all others.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Creates options, by default for all zones and with a new group.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// A textual representation with the zones.
        public var description: String { scope.description }
    }

    /// The reason and the options of a fetch.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// The reason for the fetch.
        public let reason: SyncReason

        /// The options of the fetch.
        public let options: FetchChangesOptions

        package init(reason: SyncReason, options: FetchChangesOptions) {
            self.reason = reason
            self.options = options
        }

        /// A textual representation with the reason and the zones.
        public var description: String { "\(reason), \(options)" }
    }

    /// The reason for fetching or sending.
    @nonexhaustive
    public enum SyncReason: Sendable, Hashable, CustomStringConvertible {
        /// The engine started the operation.
        case scheduled
        /// The app called `fetchChanges` or `sendChanges`.
        case manual

        /// The reason's name.
        public var description: String {
            switch self {
            case .scheduled: "scheduled"
            case .manual: "manual"
            }
        }
    }
}
