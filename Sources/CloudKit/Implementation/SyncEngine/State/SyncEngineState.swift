/// What an engine keeps between two runs of the app.
package struct SyncEngineState: Sendable {
    /// The database the state belongs to; nil in a state that no engine has taken yet.
    package var origin: Origin?
    /// What is known of the account.
    package var account: Account = .unknown
    /// Whose the pending changes are of a state that could not be read as a whole.
    package var salvagedUser: String?
    package var subscriptionID: CKSubscription.ID?
    package var databaseToken: CKServerChangeToken?
    package var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// The zones that changed and were not fetched yet, in the order they were heard of.
    package var unfetchedZones: [CKRecordZone.ID] = []
    /// The zones that something was sent to and that were never fetched.
    package var sentZones: Set<CKRecordZone.ID> = []
    package var pendingDatabaseChanges = PendingChanges<CKSyncEngine.PendingDatabaseChange>()
    package var pendingRecordZoneChanges = PendingChanges<CKSyncEngine.PendingRecordZoneChange>()
    package var hasPendingUntrackedChanges = false

    package init() {}

    /// Whose data an engine works on.
    package enum Account: Hashable, Sendable {
        /// No user was ever seen: pending changes are for the first who signs in.
        case unknown
        /// The last user signed out: nothing that was pending then is kept.
        case signedOut
        /// The record name of the user.
        case user(String)

        package var user: String? {
            if case .user(let name) = self { name } else { nil }
        }
    }

    /// A database, as far as the client can tell one from another.
    package struct Origin: Hashable, Sendable {
        package var container: String?
        package var scope: CKDatabase.Scope

        package init(container: String?, scope: CKDatabase.Scope) {
            self.container = container
            self.scope = scope
        }
    }

    /// Zones that the app knows of: it is to be told when they are gone.
    var knownZones: Set<CKRecordZone.ID> {
        sentZones.union(zoneTokens.keys).union(unfetchedZones)
    }

    /// Remembers that the app has sent something to a zone.
    mutating func noteSending(to zoneID: CKRecordZone.ID) {
        if zoneTokens[zoneID] == nil { sentZones.insert(zoneID) }
    }

    /// Forgets everything that belongs to an account.
    mutating func reset() {
        let origin = origin
        self = SyncEngineState()
        self.origin = origin
    }

    /// Remembers that a zone has changes.
    mutating func noteChanges(in zoneID: CKRecordZone.ID) {
        if !unfetchedZones.contains(zoneID) { unfetchedZones.append(zoneID) }
    }

    /// Forgets a zone that is gone.
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
