/// What an operation of the machine wants next.
enum SyncEngineStep: Sendable {
    /// Hand over events, then go on.
    case deliver([Delivery])
    case askForBatch(CKSyncEngine.SendChangesContext)
    case askForOptions(CKSyncEngine.FetchChangesContext)
    case request(SyncRequest)
    /// Nothing more: the operation has ended.
    case finish

    /// An event, and what is true once the delegate has it.
    struct Delivery: Sendable {
        /// The event; without one the change holds at once.
        var event: CKSyncEngine.Event?
        var change: Change?

        init(_ event: CKSyncEngine.Event?, then change: Change? = nil) {
            self.event = event
            self.change = change
        }
    }

    /// A change of the state that must not run ahead of its event.
    enum Change: Sendable {
        /// The database was followed up to a token.
        case database(CKServerChangeToken, modified: [CKRecordZone.ID], deleted: [CKRecordZone.ID])
        /// The database's token is void.
        case databaseRestart
        /// A zone was followed up to a token, or to its end.
        case zone(CKRecordZone.ID, CKServerChangeToken, isWhole: Bool)
        /// A zone's token is void.
        case zoneRestart(CKRecordZone.ID)
        /// A zone is gone.
        case zoneGone(CKRecordZone.ID)
    }
}

extension SyncEngineState {
    /// Makes a change hold.
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
            sentZones.insert(zoneID)
        case .zoneGone(let zoneID): forget(zoneID)
        }
    }
}
