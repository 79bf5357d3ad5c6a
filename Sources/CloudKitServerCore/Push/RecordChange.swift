import CloudKitWire

/// What a commit did to one record.
struct RecordChange: Sendable {
    /// What happened, with the number that notifications write for it.
    enum Kind: Int64, Sendable {
        case created = 1
        case updated, deleted

        /// The event of a query subscription.
        var event: WireSubscription.Event {
            switch self {
            case .created: .create
            case .updated: .update
            case .deleted: .delete
            }
        }
    }

    var kind: Kind
    /// The record as it is now; a deleted one as it was last.
    var record: StoredRecord
    /// An updated record as it was before.
    var before: StoredRecord?
}
