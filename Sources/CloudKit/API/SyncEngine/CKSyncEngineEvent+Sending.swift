extension CKSyncEngine.Event {
    /// A batch of zones was sent.
    ///
    /// What failed because of the network or the server's load stays pending and is tried again;
    /// what failed for another reason is pending no more.
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// A zone that could not be saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone.
            public let zone: CKRecordZone

            /// Why it could not be saved.
            public let error: CKError

            package init(zone: CKRecordZone, error: CKError) {
                self.zone = zone
                self.error = error
            }

            /// The zone and the error.
            public var description: String { "\(zone.zoneID) \(error)" }
        }

        /// The zones that were saved.
        public let savedZones: [CKRecordZone]

        /// The zones that could not be saved.
        public let failedZoneSaves: [FailedZoneSave]

        /// The zones that were deleted.
        public let deletedZoneIDs: [CKRecordZone.ID]

        /// The zones that could not be deleted, and why.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        package init(
            savedZones: [CKRecordZone] = [],
            failedZoneSaves: [FailedZoneSave] = [],
            deletedZoneIDs: [CKRecordZone.ID] = [],
            failedZoneDeletes: [CKRecordZone.ID: CKError] = [:]
        ) {
            self.savedZones = savedZones
            self.failedZoneSaves = failedZoneSaves
            self.deletedZoneIDs = deletedZoneIDs
            self.failedZoneDeletes = failedZoneDeletes
        }

        /// The numbers of zones.
        public var description: String {
            "\(savedZones.count) saved, \(deletedZoneIDs.count) deleted, "
                + "\(failedZoneSaves.count + failedZoneDeletes.count) failed"
        }
    }

    /// A batch of records was sent.
    ///
    /// What failed because of the network or the server's load stays pending and is tried again;
    /// what failed for another reason is pending no more: mend it, and add it again.
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// A record that could not be saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record.
            public let record: CKRecord

            /// Why it could not be saved.
            public let error: CKError

            package init(record: CKRecord, error: CKError) {
                self.record = record
                self.error = error
            }

            /// The record and the error.
            public var description: String { "\(record.recordID) \(error)" }
        }

        /// The records that were saved, as the server has them now.
        public let savedRecords: [CKRecord]

        /// The records that could not be saved.
        public let failedRecordSaves: [FailedRecordSave]

        /// The records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]

        /// The records that could not be deleted, and why.
        public let failedRecordDeletes: [CKRecord.ID: CKError]

        package init(
            savedRecords: [CKRecord] = [],
            failedRecordSaves: [FailedRecordSave] = [],
            deletedRecordIDs: [CKRecord.ID] = [],
            failedRecordDeletes: [CKRecord.ID: CKError] = [:]
        ) {
            self.savedRecords = savedRecords
            self.failedRecordSaves = failedRecordSaves
            self.deletedRecordIDs = deletedRecordIDs
            self.failedRecordDeletes = failedRecordDeletes
        }

        /// The numbers of records.
        public var description: String {
            "\(savedRecords.count) saved, \(deletedRecordIDs.count) deleted, "
                + "\(failedRecordSaves.count + failedRecordDeletes.count) failed"
        }
    }

    /// Changes are about to be sent.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// Why, and what is sent.
        public let context: CKSyncEngine.SendChangesContext

        package init(context: CKSyncEngine.SendChangesContext) {
            self.context = context
        }

        /// Why, and what is sent.
        public var description: String { context.description }
    }

    /// Sending has ended.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// Why, and what was sent.
        public let context: CKSyncEngine.SendChangesContext

        package init(context: CKSyncEngine.SendChangesContext) {
            self.context = context
        }

        /// Why, and what was sent.
        public var description: String { context.description }
    }
}
