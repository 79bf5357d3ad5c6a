extension CKSyncEngine {
    /// Records to save and to delete with one request.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// What a batch can hold, saves and deletions together.
        static let itemLimit = 250

        /// The records to save.
        public var recordsToSave: [CKRecord]

        /// The records to delete.
        public var recordIDsToDelete: [CKRecord.ID]

        /// Whether the records of a zone are saved all together or not at all.
        ///
        /// A request holds 200 items; the rest of a zone stays pending for the next batch.
        public var atomicByZone: Bool

        /// Collects a batch from pending changes, in their order, until it is full.
        ///
        /// A record that the provider does not have is left out and stays pending; what does not
        /// fit stays pending for the next batch.
        ///
        /// Nil when there is nothing to send.
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes, already limited to the scope of the sending.
        ///   - recordProvider: Gives the record of an identity as it is to be saved.
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

        /// Makes a batch; more than 250 items fail when the batch is sent.
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

        /// The batch without what one request could not hold of an atomic zone.
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

        /// The numbers of records.
        public var description: String {
            "\(recordsToSave.count) to save, \(recordIDsToDelete.count) to delete"
        }
    }
}
