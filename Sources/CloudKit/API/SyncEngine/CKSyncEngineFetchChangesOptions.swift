extension CKSyncEngine {
    /// What to fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// Which zones to fetch.
        @nonexhaustive
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All zones.
            case all
            /// All zones but these.
            case allExcluding([CKRecordZone.ID])
            /// These zones.
            case zoneIDs([CKRecordZone.ID])

            /// Whether a zone is to be fetched.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
                }
            }

            /// The zones.
            public var description: String {
                switch self {
                case .all: "all zones"
                case .allExcluding(let zoneIDs): "all zones but \(zoneIDs)"
                case .zoneIDs(let zoneIDs): "zones \(zoneIDs)"
                }
            }
        }

        /// Which zones to fetch.
        public var scope: Scope

        /// What the fetch belongs to.
        public var operationGroup: CKOperationGroup

        /// The zones to fetch before all others.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Makes options; all zones in a new group unless said otherwise.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// The zones.
        public var description: String { scope.description }
    }

    /// Why a fetch runs, and with which options.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// Why the fetch runs.
        public let reason: SyncReason

        /// The options of the fetch.
        public let options: FetchChangesOptions

        package init(reason: SyncReason, options: FetchChangesOptions) {
            self.reason = reason
            self.options = options
        }

        /// The reason and the zones.
        public var description: String { "\(reason), \(options)" }
    }

    /// Why the engine fetches or sends.
    @nonexhaustive
    public enum SyncReason: Sendable, Hashable, CustomStringConvertible {
        /// The engine decided to.
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
