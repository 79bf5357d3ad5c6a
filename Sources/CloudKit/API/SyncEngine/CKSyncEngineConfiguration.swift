extension CKSyncEngine {
    /// What an engine needs to start.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database to keep in step with, private or shared.
        public var database: CKDatabase

        /// The state of the last `stateUpdate` event; nil fetches everything from the beginning.
        public var stateSerialization: CKSyncEngine.State.Serialization?

        /// Whom the engine asks and tells; the engine does not keep it alive.
        public var delegate: any CKSyncEngineDelegate

        /// Whether the engine fetches and sends by itself; true unless set.
        public var automaticallySync: Bool = true

        /// The database subscription that tells the engine of changes; nil lets it make its own.
        public var subscriptionID: CKSubscription.ID?

        /// Makes a configuration.
        public init(
            database: CKDatabase,
            stateSerialization: CKSyncEngine.State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }

        /// The database and the way of syncing.
        public var description: String {
            "<CKSyncEngine.Configuration: database=\(database.databaseScope); "
                + "automaticallySync=\(automaticallySync)>"
        }
    }
}
