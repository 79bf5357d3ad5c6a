extension CKDatabase {
    /// What can happen to a database's zones.
    public enum DatabaseChange {
        /// A zone is new, or something in it changed.
        public struct Modification: Sendable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A zone is gone.
        public struct Deletion: Sendable, Hashable {
            /// Why a zone is gone.
            @nonexhaustive
            public enum Reason: Sendable, Hashable {
                /// An app deleted it.
                case deleted
                /// The user removed the app's data in the settings.
                case purged
                /// The user reset the encryption keys.
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID

            /// Why it is gone.
            public let reason: Reason

            /// Whether the user removed the app's data in the settings.
            @available(*, deprecated, message: "Use reason")
            public var purged: Bool { reason == .purged }
        }
    }

    /// What can happen to a zone's records.
    public enum RecordZoneChange {
        /// A record is new or changed.
        public struct Modification: Sendable, Hashable {
            /// The record in its latest state.
            public let record: CKRecord
        }

        /// A record is gone.
        public struct Deletion: Sendable, Hashable {
            /// The record's identity.
            public let recordID: CKRecord.ID

            /// The record's type; empty when the service does not say.
            public let recordType: CKRecord.RecordType
        }
    }
}
