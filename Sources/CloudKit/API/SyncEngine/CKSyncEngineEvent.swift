extension CKSyncEngine {
    /// What the engine tells its delegate.
    @nonexhaustive
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine's state changed: keep it, and start the next engine with it.
        case stateUpdate(StateUpdate)
        /// The user signed in or out, or another user signed in.
        case accountChange(AccountChange)
        /// Zones changed or went away on the server.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records of a zone changed or went away on the server.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// A batch of zones was sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// A batch of records was sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// A fetch begins.
        case willFetchChanges(WillFetchChanges)
        /// The fetch of a zone begins.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The fetch of a zone has ended.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// A fetch has ended.
        case didFetchChanges(DidFetchChanges)
        /// Changes are about to be sent.
        case willSendChanges(WillSendChanges)
        /// Sending has ended.
        case didSendChanges(DidSendChanges)

        /// The event's name and what it is about.
        public var description: String {
            switch self {
            case .stateUpdate(let event): "stateUpdate \(event)"
            case .accountChange(let event): "accountChange \(event)"
            case .fetchedDatabaseChanges(let event): "fetchedDatabaseChanges \(event)"
            case .fetchedRecordZoneChanges(let event): "fetchedRecordZoneChanges \(event)"
            case .sentDatabaseChanges(let event): "sentDatabaseChanges \(event)"
            case .sentRecordZoneChanges(let event): "sentRecordZoneChanges \(event)"
            case .willFetchChanges(let event): "willFetchChanges \(event)"
            case .willFetchRecordZoneChanges(let event): "willFetchRecordZoneChanges \(event)"
            case .didFetchRecordZoneChanges(let event): "didFetchRecordZoneChanges \(event)"
            case .didFetchChanges(let event): "didFetchChanges \(event)"
            case .willSendChanges(let event): "willSendChanges \(event)"
            case .didSendChanges(let event): "didSendChanges \(event)"
            }
        }
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// What to start the next engine with.
        public let stateSerialization: CKSyncEngine.State.Serialization

        package init(stateSerialization: CKSyncEngine.State.Serialization) {
            self.stateSerialization = stateSerialization
        }

        /// The state in numbers.
        public var description: String { "\(stateSerialization.contents)" }
    }

    /// Another user's data is at stake from now on.
    ///
    /// The engine has forgotten what it knew of the previous user, pending changes included.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// How the account changed.
        @nonexhaustive
        public enum ChangeType: Sendable, Equatable {
            /// A user signed in where there was none.
            case signIn(currentUser: CKRecord.ID)
            /// The user signed out.
            case signOut(previousUser: CKRecord.ID)
            /// Another user signed in.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)

            /// The change and the users.
            var text: String {
                switch self {
                case .signIn(let current): "signIn \(current.recordName)"
                case .signOut(let previous): "signOut \(previous.recordName)"
                case .switchAccounts(let previous, let current):
                    "switchAccounts \(previous.recordName) to \(current.recordName)"
                }
            }
        }

        /// How the account changed.
        public let changeType: ChangeType

        package init(changeType: ChangeType) {
            self.changeType = changeType
        }

        /// How the account changed.
        public var description: String { changeType.text }
    }
}
