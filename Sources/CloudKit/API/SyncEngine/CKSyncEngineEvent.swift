extension CKSyncEngine {
    /// The events that an engine reports to its delegate.
    @nonexhaustive
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine's state changed: store it, and start the next engine with it.
        case stateUpdate(StateUpdate)
        /// The user signed in or out, or another user signed in.
        case accountChange(AccountChange)
        /// Zones changed or were deleted on the server.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records of a zone changed or were deleted on the server.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// A batch of zone changes was sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// A batch of record changes was sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// The engine is about to fetch changes.
        case willFetchChanges(WillFetchChanges)
        /// The engine is about to fetch a zone's changes.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The engine has finished fetching a zone's changes.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// The engine has finished fetching changes.
        case didFetchChanges(DidFetchChanges)
        /// The engine is about to send changes.
        case willSendChanges(WillSendChanges)
        /// The engine has finished sending changes.
        case didSendChanges(DidSendChanges)

        /// A textual representation with the event's name and contents.
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
        /// The state to start the next engine with.
        public let stateSerialization: CKSyncEngine.State.Serialization

        package init(stateSerialization: CKSyncEngine.State.Serialization) {
            self.stateSerialization = stateSerialization
        }

        /// A textual representation with the state's counts.
        public var description: String { "\(stateSerialization.contents)" }
    }

    /// The user signed in or out, or another user signed in.
    ///
    /// The engine has discarded its state of the previous user, pending changes included.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// The kinds of account changes.
        @nonexhaustive
        public enum ChangeType: Sendable, Equatable {
            /// A user signed in when none was signed in.
            case signIn(currentUser: CKRecord.ID)
            /// The user signed out.
            case signOut(previousUser: CKRecord.ID)
            /// Another user signed in.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)

            /// A textual representation with the change and the users.
            var text: String {
                switch self {
                case .signIn(let current): "signIn \(current.recordName)"
                case .signOut(let previous): "signOut \(previous.recordName)"
                case .switchAccounts(let previous, let current):
                    "switchAccounts \(previous.recordName) to \(current.recordName)"
                }
            }
        }

        /// The kind of the change.
        public let changeType: ChangeType

        package init(changeType: ChangeType) {
            self.changeType = changeType
        }

        /// A textual representation with the change and the users.
        public var description: String { changeType.text }
    }
}
