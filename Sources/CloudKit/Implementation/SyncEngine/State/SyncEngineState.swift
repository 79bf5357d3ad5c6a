/// The state that an engine keeps between two runs of the app.
package struct SyncEngineState: Sendable {
    /// The database of the state; nil in a state that no engine has used yet.
    package var origin: Origin?
    /// The known state of the account.
    package var account: Account = .unknown
    /// The owner of the pending changes in a state that could not be read as a whole.
    package var salvagedUser: String?
    package var subscriptionID: CKSubscription.ID?
    package var databaseToken: CKServerChangeToken?
    package var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// The zones that changed and were not fetched yet, in the order of their notifications.
    package var unfetchedZones: [CKRecordZone.ID] = []
    /// The zones that changes were sent to and that were never fetched.
    package var sentZones: Set<CKRecordZone.ID> = []
    package var pendingDatabaseChanges = PendingChanges<CKSyncEngine.PendingDatabaseChange>()
    package var pendingRecordZoneChanges = PendingChanges<CKSyncEngine.PendingRecordZoneChange>()
    package var hasPendingUntrackedChanges = false

    package init() {}

    /// The account whose data an engine works on.
    package enum Account: Hashable, Sendable {
        /// No user was ever seen: pending changes belong to the first who signs in.
        case unknown
        /// The last user signed out: changes that were pending then are discarded.
        case signedOut
        /// The record name of the user.
        case user(String)

        package var user: String? {
            if case .user(let name) = self { name } else { nil }
        }
    }

    /// A database, as far as the client can distinguish it from others.
    package struct Origin: Hashable, Sendable {
        package var container: String?
        package var scope: CKDatabase.Scope

        package init(container: String?, scope: CKDatabase.Scope) {
            self.container = container
            self.scope = scope
        }
    }

    /// The zones that the app knows: it is to be notified of their deletion.
    var knownZones: Set<CKRecordZone.ID> {
        sentZones.union(zoneTokens.keys).union(unfetchedZones)
    }

    /// Records that the app has sent a change to a zone.
    mutating func noteSending(to zoneID: CKRecordZone.ID) {
        if zoneTokens[zoneID] == nil { sentZones.insert(zoneID) }
    }

    /// Discards everything that belongs to an account.
    mutating func reset() {
        let origin = origin
        self = SyncEngineState()
        self.origin = origin
    }

    /// Records that a zone has changes.
    mutating func noteChanges(in zoneID: CKRecordZone.ID) {
        if !unfetchedZones.contains(zoneID) { unfetchedZones.append(zoneID) }
    }

    /// Discards a deleted zone.
    mutating func forget(_ zoneID: CKRecordZone.ID) {
        zoneTokens[zoneID] = nil
        sentZones.remove(zoneID)
        unfetchedZones.removeAll { $0.isEqual(zoneID) }
    }
}

extension SyncEngineState: CustomStringConvertible {
    package var description: String {
        "\(zoneTokens.count) zones, \(unfetchedZones.count) to fetch, "
            + "\(pendingDatabaseChanges.count) database and \(pendingRecordZoneChanges.count) "
            + "record changes pending"
    }
}
