extension CKSyncEngine {
    /// What to send.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// Which changes to send.
        @nonexhaustive
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All changes.
            case all
            /// The changes of all zones but these.
            case allExcluding([CKRecordZone.ID])
            /// The changes of these zones.
            case zoneIDs([CKRecordZone.ID])
            /// The changes of these records.
            case recordIDs([CKRecord.ID])

            /// Whether a record is to be sent.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains(recordID)
                }
            }

            /// Whether a change is to be sent.
            public func contains(
                _ pendingRecordZoneChange: CKSyncEngine.PendingRecordZoneChange
            ) -> Bool {
                contains(pendingRecordZoneChange.recordID)
            }

            /// The zones or records.
            public var description: String {
                switch self {
                case .all: "all zones"
                case .allExcluding(let zoneIDs): "all zones but \(zoneIDs)"
                case .zoneIDs(let zoneIDs): "zones \(zoneIDs)"
                case .recordIDs(let recordIDs): "\(recordIDs.count) records"
                }
            }
        }

        /// Which changes to send.
        public var scope: Scope

        /// What the sending belongs to.
        public var operationGroup: CKOperationGroup

        /// Makes options; all changes in a new group unless said otherwise.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// The zones or records.
        public var description: String { scope.description }
    }

    /// Why changes are sent, and with which options.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// Why changes are sent.
        public let reason: SyncReason

        /// The options of the sending.
        public let options: SendChangesOptions

        package init(reason: SyncReason, options: SendChangesOptions) {
            self.reason = reason
            self.options = options
        }

        /// The reason and the zones or records.
        public var description: String { "\(reason), \(options)" }
    }
}

extension CKSyncEngine.SendChangesOptions.Scope {
    /// Whether a zone's own change is to be sent: with records of a zone goes the zone.
    func contains(_ change: CKSyncEngine.PendingDatabaseChange) -> Bool {
        let zoneID = change.zoneID
        return switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
        case .recordIDs(let recordIDs): recordIDs.contains { $0.zoneID.isEqual(zoneID) }
        }
    }
}
