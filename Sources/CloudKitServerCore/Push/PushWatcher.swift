import CloudKitWire

/// A user with subscriptions to the database of a commit, and the part of it that the user may see.
struct PushWatcher {
    let user: StoredUser
    /// The database as the user sees it.
    let scope: DatabaseScope
    /// The part of the zone that the user sees.
    var sight: RecordSight
    let collection: SubscriptionCollection
    let subscriptions: [WireSubscription]
    /// The changes that the user sees.
    private(set) var changes: [RecordChange] = []
    /// `true` when the commit may have opened or closed parts of the zone to the user.
    private(set) var accessChanged = false

    init(
        user: StoredUser,
        scope: DatabaseScope,
        sight: RecordSight,
        collection: SubscriptionCollection,
        subscriptions: [WireSubscription]
    ) {
        self.user = user
        self.scope = scope
        self.sight = sight
        self.collection = collection
        self.subscriptions = subscriptions
    }

    var hasSubscriptions: Bool { !subscriptions.isEmpty }

    /// Adds the changes that the user may see.
    mutating func see(_ all: [RecordChange], _ reader: any StorageReader) throws {
        for change in all {
            if try sight.shows(change.record, reader) {
                var change = change
                // A version that the user did not see counts as nonexistent.
                if let before = change.before, try !sight.shows(before, reader) {
                    change.before = nil
                }
                changes.append(change)
            } else if let before = change.before, try sight.shows(before, reader) {
                // The record was removed from the part that is shared with the user.
                accessChanged = true
            }
            if change.record.type == WireRecord.shareType { accessChanged = true }
        }
    }
}
