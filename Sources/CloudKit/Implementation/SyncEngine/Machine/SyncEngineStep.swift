/// The next step of an operation of the machine.
enum SyncEngineStep: Sendable {
    /// Deliver events, then continue.
    case deliver([Delivery])
    case requestBatch(CKSyncEngine.SendChangesContext)
    case requestOptions(CKSyncEngine.FetchChangesContext)
    case request(SyncRequest)
    /// The operation has ended.
    case finish

    /// An event, and the change that applies once the delegate has received it.
    struct Delivery: Sendable {
        /// The event; without one the change applies immediately.
        var event: CKSyncEngine.Event?
        var change: Change?

        init(_ event: CKSyncEngine.Event?, then change: Change? = nil) {
            self.event = event
            self.change = change
        }
    }

    /// A change of the state that must not precede its event.
    enum Change: Sendable {
        /// The database was read up to a token.
        case database(CKServerChangeToken, modified: [CKRecordZone.ID], deleted: [CKRecordZone.ID])
        /// The database's token is invalid.
        case databaseRestart
        /// A zone was read up to a token, or to its end.
        case zone(CKRecordZone.ID, CKServerChangeToken, isWhole: Bool)
        /// A zone's token is invalid.
        case zoneRestart(CKRecordZone.ID)
        /// A zone was deleted.
        case zoneGone(CKRecordZone.ID)
    }
}

extension SyncEngineState {
    /// Applies a change.
    mutating func apply(_ change: SyncEngineStep.Change) {
        switch change {
        case .database(let token, let modified, let deleted):
            databaseToken = token
            for zoneID in deleted { forget(zoneID) }
            for zoneID in modified { noteChanges(in: zoneID) }
        case .databaseRestart: databaseToken = nil
        case .zone(let zoneID, let token, let isWhole):
            zoneTokens[zoneID] = token
            sentZones.remove(zoneID)
            if isWhole { unfetchedZones.removeAll { $0.isEqual(zoneID) } }
        case .zoneRestart(let zoneID):
            zoneTokens[zoneID] = nil
            // Without a token the zone would no longer count as known.
            sentZones.insert(zoneID)
        case .zoneGone(let zoneID): forget(zoneID)
        }
    }
}
