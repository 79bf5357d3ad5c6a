extension CKSyncEngine {
    /// The records to save and delete with one request.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// The maximum number of items in a batch, saves and deletions together.
        static let itemLimit = 250

        /// The records to save.
        public var recordsToSave: [CKRecord]

        /// The records to delete.
        public var recordIDsToDelete: [CKRecord.ID]

        /// A Boolean value that indicates whether the records of each zone are saved atomically.
        ///
        /// A request holds 200 items; the rest of a zone stays pending for the next batch.
        public var atomicByZone: Bool

        /// Creates a batch from pending changes, in their order, until it is full.
        ///
        /// A record that the provider returns nil for is left out and stays pending; changes that
        /// do not fit stay pending for the next batch.
        ///
        /// Returns nil when there is nothing to send.
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes, already limited to the scope of the operation.
        ///   - recordProvider: A closure that returns the record with an ID as it is to be saved.
        public init?(
            pendingChanges: [CKSyncEngine.PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            for change in pendingChanges {
                guard count < Self.itemLimit else { break }
                SyncEngineCore.noteReading(of: change.recordID)
                switch change {
                case .saveRecord(let recordID):
                    if let record = await recordProvider(recordID) { recordsToSave.append(record) }
                case .deleteRecord(let recordID): recordIDsToDelete.append(recordID)
                }
            }
            if count == 0 { return nil }
        }

        /// Creates a batch; one of more than 250 items fails when it is sent.
        public init(
            recordsToSave: [CKRecord] = [],
            recordIDsToDelete: [CKRecord.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// The number of items.
        var count: Int { recordsToSave.count + recordIDsToDelete.count }

        /// Returns the batch without those items of an atomic zone that exceed one request.
        package func withinOneRequest(_ limit: Int) -> Self {
            guard atomicByZone, count > limit else { return self }
            var counts: [CKRecordZone.ID: Int] = [:]
            func fits(_ recordID: CKRecord.ID) -> Bool {
                counts[recordID.zoneID, default: 0] += 1
                return counts[recordID.zoneID, default: 0] <= limit
            }
            var batch = self
            batch.recordsToSave = recordsToSave.filter { fits($0.recordID) }
            batch.recordIDsToDelete = recordIDsToDelete.filter(fits)
            return batch
        }

        /// A textual representation with the numbers of records.
        public var description: String {
            "\(recordsToSave.count) to save, \(recordIDsToDelete.count) to delete"
        }
    }
}
