extension CKSyncEngine {
    /// The options of sending changes.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// The changes to send.
        @nonexhaustive
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All changes.
            case all
            /// The changes of all zones except these.
            case allExcluding([CKRecordZone.ID])
            /// The changes of these zones.
            case zoneIDs([CKRecordZone.ID])
            /// The changes of these records.
            case recordIDs([CKRecord.ID])

            /// Returns whether the scope contains a record.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains(recordID)
                }
            }

            /// Returns whether the scope contains a change.
            public func contains(
                _ pendingRecordZoneChange: CKSyncEngine.PendingRecordZoneChange
            ) -> Bool {
                contains(pendingRecordZoneChange.recordID)
            }

            /// A textual representation with the zones or records.
            public var description: String {
                switch self {
                case .all: "all zones"
                case .allExcluding(let zoneIDs): "all zones but \(zoneIDs)"
                case .zoneIDs(let zoneIDs): "zones \(zoneIDs)"
                case .recordIDs(let recordIDs): "\(recordIDs.count) records"
                }
            }
        }

        /// The changes to send.
        public var scope: Scope

        /// The operation group of the changes.
        public var operationGroup: CKOperationGroup

        /// Creates options, by default for all changes and with a new group.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// A textual representation with the zones or records.
        public var description: String { scope.description }
    }

    /// The reason and the options of sending changes.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// The reason for sending.
        public let reason: SyncReason

        /// The options of sending.
        public let options: SendChangesOptions

        package init(reason: SyncReason, options: SendChangesOptions) {
            self.reason = reason
            self.options = options
        }

        /// A textual representation with the reason and the zones or records.
        public var description: String { "\(reason), \(options)" }
    }
}

extension CKSyncEngine.SendChangesOptions.Scope {
    /// Returns whether the scope contains a zone's own change: with its records, a zone is sent
    /// too.
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
