/// A page of a zone's changes, in the feed's order.
struct ZoneChangePage: Sendable {
    /// The records that are new or changed, in their latest state.
    var changed: [(recordID: CKRecord.ID, result: Result<CKRecord, any Error>)] = []
    /// The records that are gone.
    var deleted: [CKDatabase.RecordZoneChange.Deletion] = []
    /// Where the next page starts.
    let token: CKServerChangeToken
    /// Whether there is a next page now.
    let moreComing: Bool
}
