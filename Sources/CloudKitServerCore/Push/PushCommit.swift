import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes, inside a commit, the notifications that it causes.
///
/// Subscribers may be the zone's owner, users with whom parts of it are shared and, in the public
/// database, anyone who may read the records.
struct PushCommit {
    let call: Call
    let writer: any StorageWriter
    let zone: ZoneView
    let schema: Schema
    let randomness: any ServiceRandomness
    /// The news to announce after the commit.
    private(set) var news = PushNews()

    /// The maximum number of notifications that wait for one token; newer ones replace the oldest.
    static let queueLimit = 100

    init(
        call: Call,
        writer: any StorageWriter,
        zone: ZoneView,
        schema: Schema,
        randomness: any ServiceRandomness
    ) {
        self.call = call
        self.writer = writer
        self.zone = zone
        self.schema = schema
        self.randomness = randomness
    }

    /// Writes notifications about changes to records of the zone.
    mutating func notify(of changes: [RecordChange]) throws {
        let changes = Self.merged(changes)
        guard !changes.isEmpty else { return }
        if zone.database.owner == nil {
            try notifyPublic(of: changes)
            return
        }
        for var watcher in try watchers(of: changes) where watcher.hasSubscriptions {
            try watcher.see(changes, writer)
            try notify(watcher, zoneChanged: false)
        }
    }

    /// Writes notifications about the creation or deletion of the zone.
    mutating func notifyOfZone() throws {
        for watcher in try watchers(of: []) where watcher.hasSubscriptions {
            try notify(watcher, zoneChanged: true)
        }
    }

    /// Returns one change for each record.
    private static func merged(_ changes: [RecordChange]) -> [RecordChange] {
        var merged: [RecordChange] = []
        for change in changes {
            guard let index = merged.firstIndex(where: { $0.record.id == change.record.id }) else {
                merged.append(change)
                continue
            }
            let first = merged.remove(at: index)
            switch (first.kind, change.kind) {
            // A record that was created and deleted in one commit was never seen.
            case (.created, .deleted): continue
            case (.created, _):
                merged.append(RecordChange(kind: .created, record: change.record))
            case (_, .deleted): merged.append(change)
            default:
                merged.append(
                    RecordChange(
                        kind: .updated,
                        record: change.record,
                        before: first.before ?? first.record
                    )
                )
            }
        }
        return merged
    }

    // MARK: Watchers

    /// Returns the owner and the participants of the zone's shares, with the changes that each can see.
    private func watchers(of changes: [RecordChange]) throws -> [PushWatcher] {
        guard let ownerID = zone.database.owner, let owner = try writer.user(ownerID) else {
            return []
        }
        var watchers = [try watcher(owner, .private, .everything)]
        // Nothing in a default zone can be shared.
        guard !zone.isDefault else { return watchers }
        let shares = ShareDirectory(environment: call.environment.id)
        for id in try shares.members(of: zone.zone.id, writer) where id != ownerID {
            guard let user = try writer.user(id) else { continue }
            let watcher = try watcher(user, .shared, .shares([]))
            if watcher.hasSubscriptions { watchers.append(watcher) }
        }
        // A zone may have many shares: they are read only if a participant has subscriptions.
        guard watchers.count > 1 else { return watchers }
        let openings = try shares.openings(
            of: zone.zone.id,
            among: shareNames(above: changes),
            writer
        )
        for index in watchers.indices.dropFirst() {
            let user = watchers[index].user
            watchers[index].sight = sight(of: user, .shared, .shares(openings[user.id] ?? []))
        }
        return watchers
    }

    /// Returns the names of the shares that may cover some records before or after the commit:
    /// those of records above them and of the whole zone, and shares that changed.
    private func shareNames(above changes: [RecordChange]) throws -> Set<String> {
        var names: Set<String> = [SharePart.zoneShareName]
        var known: [String: StoredRecord?] = [:]
        for record in changes.flatMap({ [$0.record, $0.before].compactMap(\.self) }) {
            if record.type == WireRecord.shareType { names.insert(record.name) }
            var next: StoredRecord? = record
            var depth = 0
            while let row = next, depth < ZoneAccess.depthLimit {
                if let share = row.share { names.insert(share) }
                next = try row.parent.flatMap { parent in
                    if let found = known[parent] { return found }
                    let found = try writer.record(zone.zone.id, name: parent)
                    known[parent] = .some(found)
                    return found
                }
                depth += 1
            }
        }
        return names
    }

    private func watcher(
        _ user: StoredUser,
        _ scope: DatabaseScope,
        _ access: ZoneAccess
    ) throws -> PushWatcher {
        let collection = SubscriptionCollection(of: user.id, to: scope, in: call.environment.id)
        return PushWatcher(
            user: user,
            scope: scope,
            sight: sight(of: user, scope, access),
            collection: collection,
            subscriptions: try collection.all(writer)
        )
    }

    /// Returns the part of the zone that a user sees, with roles where they apply.
    private func sight(
        of user: StoredUser,
        _ scope: DatabaseScope,
        _ access: ZoneAccess,
        roles: Set<String> = []
    ) -> RecordSight {
        RecordSight(
            access: access,
            permissions: RecordPermissions(
                scope: scope,
                caller: Caller(credential: .webToken, user: user, roles: roles)
            ),
            schema: scope == .public ? schema : nil,
            viewer: scope == .shared ? user.id : nil
        )
    }

    private mutating func notifyPublic(of changes: [RecordChange]) throws {
        var users: Set<RowID<StoredUser>> = []
        for type in Set(changes.map(\.record.type)).sorted() {
            users.formUnion(
                try SubscriptionCollection.users(
                    watching: type,
                    in: call.environment.id,
                    writer
                )
            )
        }
        for id in users.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let user = try writer.user(id) else { continue }
            var watcher = try watcher(user, .public, .everything)
            let roles = try RoleDirectory(environment: call.environment.id)
                .roles(of: user.id, writer)
            watcher.sight = sight(of: user, .public, .everything, roles: roles)
            try watcher.see(changes, writer)
            try notify(watcher, zoneChanged: false)
        }
    }

    // MARK: Notifying

    private mutating func notify(_ watcher: PushWatcher, zoneChanged: Bool) throws {
        var payloads: [PushPayload] = []
        for subscription in watcher.subscriptions {
            let subjects = try subjects(of: subscription, watcher, zoneChanged: zoneChanged)
            guard !subjects.isEmpty else { continue }
            let isLast = subscription.firesOnce == true
            for (subject, identifier) in isLast ? Array(subjects.prefix(1)) : subjects {
                payloads.append(payload(subscription, subject, identifier, watcher))
            }
            if isLast { try watcher.collection.remove(subscription, writer) }
        }
        try deliver(payloads, to: watcher.user)
    }

    private func payload(
        _ subscription: WireSubscription,
        _ subject: PushPayload.Subject,
        _ identifier: String,
        _ watcher: PushWatcher
    ) -> PushPayload {
        PushPayload(
            subscription: subscription,
            subject: subject,
            identifier: identifier,
            container: call.environment.container,
            owner: watcher.user.recordName,
            scope: watcher.scope,
            zone: zone.id
        )
    }

    // MARK: Delivery

    private var identifiers: [RowID<StoredRecord>?: String] = [:]

    /// Returns the identifier of all notifications of one change; nil stands for the zone.
    mutating func identifier(of record: RowID<StoredRecord>?) -> String {
        if let known = identifiers[record] { return known }
        let fresh = randomness.uuid().lowercased()
        identifiers[record] = fresh
        return fresh
    }

    /// Adds notifications to the queues of a user's tokens, except the client's own.
    private mutating func deliver(_ payloads: [PushPayload], to user: StoredUser) throws {
        let isCaller = call.caller.user?.id == user.id
        news.formUnion(
            try PushDelivery(environment: call.environment, now: call.now, writer: writer).deliver(
                payloads,
                to: user,
                besides: isCaller ? call.clientID.map(SecretHash.of) : nil
            )
        )
    }
}
