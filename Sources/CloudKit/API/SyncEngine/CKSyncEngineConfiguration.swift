extension CKSyncEngine {
    /// The configuration of a sync engine.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database to sync with, private or shared.
        public var database: CKDatabase

        /// The serialization of the last `stateUpdate` event; nil to fetch everything from the
        /// beginning.
        public var stateSerialization: CKSyncEngine.State.Serialization?

        /// The delegate that provides changes and handles events; the engine holds it weakly.
        public var delegate: any CKSyncEngineDelegate

        /// A Boolean value that indicates whether the engine fetches and sends automatically;
        /// defaults to true.
        public var automaticallySync: Bool = true

        /// The database subscription that notifies the engine of changes; nil lets the engine
        /// create its own.
        public var subscriptionID: CKSubscription.ID?

        /// Creates a configuration with automatic syncing.
        public init(
            database: CKDatabase,
            stateSerialization: CKSyncEngine.State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }

        /// A textual representation with the database and the syncing mode.
        public var description: String {
            "<CKSyncEngine.Configuration: database=\(database.databaseScope); "
                + "automaticallySync=\(automaticallySync)>"
        }
    }
}
