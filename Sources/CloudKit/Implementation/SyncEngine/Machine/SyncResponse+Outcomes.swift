extension SyncResponse {
    /// Returns an item's outcome; an item without a response counts as held up.
    private func outcome<Value>(
        _ result: Result<Value, CKError>?,
        _ item: String
    ) -> Result<Value, CKError> {
        if case .failure(let error) = self { return .failure(error) }
        return result
            ?? .failure(
                CKError(.serviceUnavailable, message: "The server returned no result for \(item)")
            )
    }

    func outcome(of record: CKRecord) -> Result<CKRecord, CKError> {
        guard case .modifiedRecords(let response) = self else {
            return outcome(nil, record.recordID.description)
        }
        return outcome(response.saves[record.recordID], record.recordID.description)
    }

    func outcome(ofDeleting recordID: CKRecord.ID) -> Result<Void, CKError> {
        guard case .modifiedRecords(let response) = self else {
            return outcome(nil, recordID.description)
        }
        return outcome(response.deletions[recordID], recordID.description)
    }

    /// Returns the zone as saved; nil for a deletion.
    func outcome(
        of change: CKSyncEngine.PendingDatabaseChange
    ) -> Result<CKRecordZone?, CKError> {
        let zoneID = change.zoneID
        guard case .modifiedZones(let response) = self else {
            return outcome(nil, zoneID.description)
        }
        return change.isDeletion
            ? outcome(response.deletions[zoneID]?.map { nil }, zoneID.description)
            : outcome(response.saves[zoneID]?.map { $0 }, zoneID.description)
    }
}
