import CloudKitWire

/// A user with subscriptions to the database of a commit, and what the user may see of it.
struct PushWatcher {
    let user: StoredUser
    /// The database as the user sees it.
    let scope: DatabaseScope
    /// What the user sees of the zone.
    var sight: RecordSight
    let collection: SubscriptionCollection
    let subscriptions: [WireSubscription]
    /// The changes that the user sees.
    private(set) var changes: [RecordChange] = []
    /// Whether the commit may have opened or closed parts of the zone to the user.
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

    /// Looks at changes, and keeps those that the user may see.
    mutating func see(_ all: [RecordChange], _ reader: any StorageReader) throws {
        for change in all {
            if try sight.shows(change.record, reader) {
                var change = change
                // What it was where the user did not see it is no news.
                if let before = change.before, try !sight.shows(before, reader) {
                    change.before = nil
                }
                changes.append(change)
            } else if let before = change.before, try sight.shows(before, reader) {
                // It was taken out of what is shared with the user.
                accessChanged = true
            }
            if change.record.type == WireRecord.shareType { accessChanged = true }
        }
    }
}
