/// A page of a zone's changes, in the feed's order.
struct ZoneChangePage: Sendable {
    /// The new and changed records, in their current version.
    var changed: [(recordID: CKRecord.ID, result: Result<CKRecord, any Error>)] = []
    /// The deleted records.
    var deleted: [CKDatabase.RecordZoneChange.Deletion] = []
    /// The token of the next page.
    let token: CKServerChangeToken
    /// `true` when there is a next page now.
    let moreComing: Bool
}
