extension CKDatabase {
    /// The kinds of changes to a database's zones.
    public enum DatabaseChange {
        /// A new zone, or one whose contents changed.
        public struct Modification: Sendable, Hashable {
            /// The zone's ID.
            public let zoneID: CKRecordZone.ID
        }

        /// A deleted zone.
        public struct Deletion: Sendable, Hashable {
            /// The reason for a zone's deletion.
            @nonexhaustive
            public enum Reason: Sendable, Hashable {
                /// An app deleted it.
                case deleted
                /// The user removed the app's data in the settings.
                case purged
                /// The user reset the encryption keys.
                case encryptedDataReset
            }

            /// The zone's ID.
            public let zoneID: CKRecordZone.ID

            /// The reason for the deletion.
            public let reason: Reason

            /// A Boolean value that indicates whether the user removed the app's data in the
            /// settings.
            @available(*, deprecated, message: "Use reason")
            public var purged: Bool { reason == .purged }
        }
    }

    /// The kinds of changes to a zone's records.
    public enum RecordZoneChange {
        /// A new or changed record.
        public struct Modification: Sendable, Hashable {
            /// The record in its current version.
            public let record: CKRecord
        }

        /// A deleted record.
        public struct Deletion: Sendable, Hashable {
            /// The record's ID.
            public let recordID: CKRecord.ID

            /// The record's type; empty when the service does not report it.
            public let recordType: CKRecord.RecordType
        }
    }
}
