extension CKSyncEngine {
    /// What waits to be sent, and which zones wait to be fetched.
    ///
    /// Every change of it is followed by a `stateUpdate` event. All members may be used from any
    /// thread.
    public final class State: Sendable {
        private let core: SyncEngineCore

        init(core: SyncEngineCore) {
            self.core = core
        }

        /// The records that wait to be saved or deleted, oldest first, each once.
        public var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
            core.read(\.state.pendingRecordZoneChanges.elements)
        }

        /// The zones that wait to be saved or deleted, oldest first, each once.
        public var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
            core.read(\.state.pendingDatabaseChanges.elements)
        }

        /// Whether the app keeps track of pending changes itself: the engine then asks for batches
        /// although its own list is empty, until the app sets this to false.
        public var hasPendingUntrackedChanges: Bool {
            get { core.read(\.state.hasPendingUntrackedChanges) }
            set { core.signal(.untrackedChanges(newValue)) }
        }

        /// The zones known to have changed on the server and not fetched yet.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            core.read(\.state.unfetchedZones)
        }

        /// Adds changes of records that are not pending yet; they are sent soon.
        ///
        /// A deletion takes the place of a pending save of the same record, and the reverse.
        public func add(
            pendingRecordZoneChanges changes: [CKSyncEngine.PendingRecordZoneChange]
        ) {
            core.signal(.addRecordChanges(changes, byDelegate: core.isInsideDelegate))
        }

        /// Removes changes of records; what is not pending is passed over.
        public func remove(
            pendingRecordZoneChanges changes: [CKSyncEngine.PendingRecordZoneChange]
        ) {
            core.signal(.removeRecordChanges(changes))
        }

        /// Adds changes of zones that are not pending yet; they are sent soon.
        ///
        /// A deletion takes the place of a pending save of the same zone, and the reverse.
        public func add(pendingDatabaseChanges changes: [CKSyncEngine.PendingDatabaseChange]) {
            core.signal(.addDatabaseChanges(changes))
        }

        /// Removes changes of zones; what is not pending is passed over.
        public func remove(pendingDatabaseChanges changes: [CKSyncEngine.PendingDatabaseChange]) {
            core.signal(.removeDatabaseChanges(changes))
        }
    }
}
