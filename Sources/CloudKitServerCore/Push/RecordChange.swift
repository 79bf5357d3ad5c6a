import CloudKitWire

/// A change of a commit to one record.
struct RecordChange: Sendable {
    /// The kind of change, with its number in notifications.
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
    /// The current record; for a deletion, its last version.
    var record: StoredRecord
    /// The previous version of an updated record.
    var before: StoredRecord?
}
