extension CKSyncEngine.Event {
    /// Zones changed or went away on the server.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// The zones that are new or hold changes, which are fetched next.
        public let modifications: [CKDatabase.DatabaseChange.Modification]

        /// The zones that are gone, and why.
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        package init(
            modifications: [CKDatabase.DatabaseChange.Modification],
            deletions: [CKDatabase.DatabaseChange.Deletion]
        ) {
            self.modifications = modifications
            self.deletions = deletions
        }

        /// The zones.
        public var description: String {
            "modified=\(modifications.map(\.zoneID)) deleted=\(deletions.map(\.zoneID))"
        }
    }

    /// Records changed or went away on the server; records of one's own may be among them.
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The records that are new or changed.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]

        /// The records that are gone.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]

        package init(
            modifications: [CKDatabase.RecordZoneChange.Modification],
            deletions: [CKDatabase.RecordZoneChange.Deletion]
        ) {
            self.modifications = modifications
            self.deletions = deletions
        }

        /// The numbers of records.
        public var description: String {
            "\(modifications.count) modified, \(deletions.count) deleted"
        }
    }

    /// A fetch begins.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// Why, and what is fetched.
        public let context: CKSyncEngine.FetchChangesContext

        package init(context: CKSyncEngine.FetchChangesContext) {
            self.context = context
        }

        /// Why, and what is fetched.
        public var description: String { context.description }
    }

    /// A fetch has ended.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// Why, and what was fetched.
        public let context: CKSyncEngine.FetchChangesContext

        package init(context: CKSyncEngine.FetchChangesContext) {
            self.context = context
        }

        /// Why, and what was fetched.
        public var description: String { context.description }
    }

    /// The fetch of a zone begins.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        package init(zoneID: CKRecordZone.ID) {
            self.zoneID = zoneID
        }

        /// The zone.
        public var description: String { zoneID.description }
    }

    /// The fetch of a zone has ended.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        /// Why the zone could not be fetched to its end; nil when it was.
        public let error: CKError?

        package init(zoneID: CKRecordZone.ID, error: CKError?) {
            self.zoneID = zoneID
            self.error = error
        }

        /// The zone and the error.
        public var description: String {
            error.map { "\(zoneID) \($0)" } ?? zoneID.description
        }
    }
}
