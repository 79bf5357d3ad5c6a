extension CKSyncEngine {
    /// The changes to send and the zones to fetch.
    ///
    /// A `stateUpdate` event follows every change of the state. All members may be used from any
    /// thread.
    public final class State: Sendable {
        private let core: SyncEngineCore

        init(core: SyncEngineCore) {
            self.core = core
        }

        /// The records to save or delete, oldest first, each once.
        public var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
            core.read(\.state.pendingRecordZoneChanges.elements)
        }

        /// The zones to save or delete, oldest first, each once.
        public var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
            core.read(\.state.pendingDatabaseChanges.elements)
        }

        /// A Boolean value that indicates whether the app tracks pending changes itself: the engine
        /// then requests batches even if its own list is empty, until the app sets this to false.
        public var hasPendingUntrackedChanges: Bool {
            get { core.read(\.state.hasPendingUntrackedChanges) }
            set { core.signal(.untrackedChanges(newValue)) }
        }

        /// The zones with changes on the server that have not been fetched yet.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            core.read(\.state.unfetchedZones)
        }

        /// Adds changes of records that are not pending yet; they are sent soon.
        ///
        /// A deletion replaces a pending save of the same record, and a save a pending deletion.
        public func add(
            pendingRecordZoneChanges changes: [CKSyncEngine.PendingRecordZoneChange]
        ) {
            core.signal(.addRecordChanges(changes, byDelegate: core.isInsideDelegate))
        }

        /// Removes changes of records; ignores those that are not pending.
        public func remove(
            pendingRecordZoneChanges changes: [CKSyncEngine.PendingRecordZoneChange]
        ) {
            core.signal(.removeRecordChanges(changes))
        }

        /// Adds changes of zones that are not pending yet; they are sent soon.
        ///
        /// A deletion replaces a pending save of the same zone, and a save a pending deletion.
        public func add(pendingDatabaseChanges changes: [CKSyncEngine.PendingDatabaseChange]) {
            core.signal(.addDatabaseChanges(changes))
        }

        /// Removes changes of zones; ignores those that are not pending.
        public func remove(pendingDatabaseChanges changes: [CKSyncEngine.PendingDatabaseChange]) {
            core.signal(.removeDatabaseChanges(changes))
        }
    }
}
