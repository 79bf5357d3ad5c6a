extension CKSyncEngine.Event {
    /// Zones changed or were deleted on the server.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// The zones that are new or have changed, which are fetched next.
        public let modifications: [CKDatabase.DatabaseChange.Modification]

        /// The zones that were deleted, with the reasons.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        package init(
            modifications: [CKDatabase.DatabaseChange.Modification],
            deletions: [CKDatabase.DatabaseChange.Deletion]
        ) {
            self.modifications = modifications
            self.deletions = deletions
        }

        /// A textual representation with the zones.
        public var description: String {
            "modified=\(modifications.map(\.zoneID)) deleted=\(deletions.map(\.zoneID))"
        }
    }

    /// Records changed or were deleted on the server; changes of this device may be among them.
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The records that are new or have changed.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]

        /// The records that were deleted.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]

        package init(
            modifications: [CKDatabase.RecordZoneChange.Modification],
            deletions: [CKDatabase.RecordZoneChange.Deletion]
        ) {
            self.modifications = modifications
            self.deletions = deletions
        }

        /// A textual representation with the numbers of records.
        public var description: String {
            "\(modifications.count) modified, \(deletions.count) deleted"
        }
    }

    /// The engine is about to fetch changes.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext

        package init(context: CKSyncEngine.FetchChangesContext) {
            self.context = context
        }

        /// A textual representation with the reason and the options.
        public var description: String { context.description }
    }

    /// The engine has finished fetching changes.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext

        package init(context: CKSyncEngine.FetchChangesContext) {
            self.context = context
        }

        /// A textual representation with the reason and the options.
        public var description: String { context.description }
    }

    /// The engine is about to fetch a zone's changes.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone's ID.
        public let zoneID: CKRecordZone.ID

        package init(zoneID: CKRecordZone.ID) {
            self.zoneID = zoneID
        }

        /// A textual representation with the zone's ID.
        public var description: String { zoneID.description }
    }

    /// The engine has finished fetching a zone's changes.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone's ID.
        public let zoneID: CKRecordZone.ID

        /// The error that ended the zone's fetch early; nil if it was complete.
        public let error: CKError?

        package init(zoneID: CKRecordZone.ID, error: CKError?) {
            self.zoneID = zoneID
            self.error = error
        }

        /// A textual representation with the zone's ID and the error.
        public var description: String {
            error.map { "\(zoneID) \($0)" } ?? zoneID.description
        }
    }
}
