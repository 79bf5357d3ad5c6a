import CloudKitWire

// The changes of a commit that concern a subscription.
extension PushCommit {
    /// Returns the subjects of a subscription's notifications, with the identifier of each.
    mutating func subjects(
        of subscription: WireSubscription,
        _ watcher: PushWatcher,
        zoneChanged: Bool
    ) throws -> [(PushPayload.Subject, String)] {
        switch subscription.subscriptionType {
        case nil: return []
        case .query:
            guard watches(subscription, watcher) else { return [] }
            return try matches(of: subscription, watcher)
        case .zone:
            guard !zone.isDefault, watches(subscription, watcher) else { return [] }
            guard hasNews(for: subscription, watcher, zoneChanged) else { return [] }
            return [(.zone, identifier(of: nil))]
        case .database:
            guard !zone.isDefault, hasNews(for: subscription, watcher, zoneChanged) else {
                return []
            }
            return [(.database, identifier(of: nil))]
        }
    }

    /// Returns whether the zone is among those that a subscription observes.
    private func watches(_ subscription: WireSubscription, _ watcher: PushWatcher) -> Bool {
        guard let watched = subscription.zoneID else {
            return subscription.zoneWide ?? true || zone.isDefault
        }
        guard watched.zoneName == zone.id.zoneName else { return false }
        guard watcher.scope == .shared else { return true }
        return watched.ownerRecordName == zone.id.ownerRecordName
    }

    private func hasNews(
        for subscription: WireSubscription,
        _ watcher: PushWatcher,
        _ zoneChanged: Bool
    ) -> Bool {
        guard let type = subscription.query?.recordType else {
            return zoneChanged || watcher.accessChanged || !watcher.changes.isEmpty
        }
        return watcher.changes.contains { $0.record.type == type }
    }

    private mutating func matches(
        of subscription: WireSubscription,
        _ watcher: PushWatcher
    ) throws -> [(PushPayload.Subject, String)] {
        guard let query = subscription.query, let type = schema.types[query.recordType] else {
            return []
        }
        let events = Set(subscription.firesOn ?? [])
        let changes = watcher.changes.filter {
            $0.record.type == query.recordType && events.contains($0.kind.event)
        }
        guard !changes.isEmpty else { return [] }
        let home = zone.home(for: watcher.user.recordName)
        var conditions: [QueryCondition] = []
        do {
            for filter in query.filterBy {
                conditions.append(
                    // It was validated when it was saved, under the rules of that time.
                    try QueryCondition(filter, in: type, query.recordType, .bySchema)
                        .resolved(in: home)
                )
            }
        } catch {
            // The schema has changed since the subscription was saved: nothing can match.
            return []
        }
        var subjects: [(PushPayload.Subject, String)] = []
        for change in changes {
            let fields = try RecordFields(stored: change.record.fields)
            var isMatch = Self.satisfies(conditions, change.record, fields, home)
            // A changed record that no longer matches causes a notification too.
            if !isMatch, let before = change.before {
                let former = try RecordFields(stored: before.fields)
                isMatch = Self.satisfies(conditions, before, former, home)
            }
            if isMatch {
                subjects.append(
                    (.record(change, fields: fields), identifier(of: change.record.id))
                )
            }
        }
        return subjects
    }

    private static func satisfies(
        _ conditions: [QueryCondition],
        _ record: StoredRecord,
        _ fields: RecordFields,
        _ home: ReferenceHome
    ) -> Bool {
        conditions.allSatisfy { $0.matches($0.field.value(in: record, fields, home)) }
    }
}
