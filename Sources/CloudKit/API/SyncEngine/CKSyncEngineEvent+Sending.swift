extension CKSyncEngine.Event {
    /// A batch of zone changes was sent.
    ///
    /// Changes that failed because of the network or the server's load stay pending and are
    /// retried; changes that failed for another reason are no longer pending.
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// A zone that could not be saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone that could not be saved.
            public let zone: CKRecordZone

            /// The reason for the failure.
            public let error: CKError

            package init(zone: CKRecordZone, error: CKError) {
                self.zone = zone
                self.error = error
            }

            /// A textual representation with the zone's ID and the error.
            public var description: String { "\(zone.zoneID) \(error)" }
        }

        /// The zones that were saved.
        public let savedZones: [CKRecordZone]

        /// The zones that could not be saved.
        public let failedZoneSaves: [FailedZoneSave]

        /// The zones that were deleted.
        public let deletedZoneIDs: [CKRecordZone.ID]

        /// The zones that could not be deleted, with their errors.
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

        /// A textual representation with the numbers of zones.
        public var description: String {
            "\(savedZones.count) saved, \(deletedZoneIDs.count) deleted, "
                + "\(failedZoneSaves.count + failedZoneDeletes.count) failed"
        }
    }

    /// A batch of record changes was sent.
    ///
    /// Changes that failed because of the network or the server's load stay pending and are
    /// retried; changes that failed for another reason are no longer pending: resolve the error,
    /// and add them again.
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// A record that could not be saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record that could not be saved.
            public let record: CKRecord

            /// The reason for the failure.
            public let error: CKError

            package init(record: CKRecord, error: CKError) {
                self.record = record
                self.error = error
            }

            /// A textual representation with the record's ID and the error.
            public var description: String { "\(record.recordID) \(error)" }
        }

        /// The records that were saved, in the server's version.
        public let savedRecords: [CKRecord]

        /// The records that could not be saved.
        public let failedRecordSaves: [FailedRecordSave]

        /// The records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]

        /// The records that could not be deleted, with their errors.
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

        /// A textual representation with the numbers of records.
        public var description: String {
            "\(savedRecords.count) saved, \(deletedRecordIDs.count) deleted, "
                + "\(failedRecordSaves.count + failedRecordDeletes.count) failed"
        }
    }

    /// The engine is about to send changes.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the operation.
        public let context: CKSyncEngine.SendChangesContext

        package init(context: CKSyncEngine.SendChangesContext) {
            self.context = context
        }

        /// A textual representation with the reason and the options.
        public var description: String { context.description }
    }

    /// The engine has finished sending changes.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// The reason and the options of the operation.
        public let context: CKSyncEngine.SendChangesContext

        package init(context: CKSyncEngine.SendChangesContext) {
            self.context = context
        }

        /// A textual representation with the reason and the options.
        public var description: String { context.description }
    }
}
