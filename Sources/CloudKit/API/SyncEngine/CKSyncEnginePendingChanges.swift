extension CKSyncEngine {
    /// A record that is to be saved or deleted.
    @nonexhaustive
    public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
        /// The record is to be saved.
        case saveRecord(CKRecord.ID)
        /// The record is to be deleted.
        case deleteRecord(CKRecord.ID)

        /// What is to be done with which record.
        public var description: String {
            switch self {
            case .saveRecord(let recordID): "save \(recordID)"
            case .deleteRecord(let recordID): "delete \(recordID)"
            }
        }
    }

    /// A zone that is to be saved or deleted.
    @nonexhaustive
    public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
        /// The zone is to be saved.
        case saveZone(CKRecordZone)
        /// The zone is to be deleted.
        case deleteZone(CKRecordZone.ID)

        /// Whether the same is to be done with a zone of the same identity.
        public static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.isDeletion == rhs.isDeletion && lhs.zoneID.isEqual(rhs.zoneID)
        }

        /// Feeds the zone's identity and what is to be done.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(isDeletion)
            hasher.combine(zoneID)
        }

        /// What is to be done with which zone.
        public var description: String {
            isDeletion ? "delete \(zoneID)" : "save \(zoneID)"
        }
    }
}

extension CKSyncEngine.PendingRecordZoneChange: PendingChange {
    package var recordID: CKRecord.ID {
        switch self {
        case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
        }
    }

    package var subject: CKRecord.ID { recordID }

    package var isDeletion: Bool {
        if case .deleteRecord = self { true } else { false }
    }
}

extension CKSyncEngine.PendingDatabaseChange: PendingChange {
    package var zoneID: CKRecordZone.ID {
        switch self {
        case .saveZone(let zone): zone.zoneID
        case .deleteZone(let zoneID): zoneID
        }
    }

    package var subject: CKRecordZone.ID { zoneID }

    package var isDeletion: Bool {
        if case .deleteZone = self { true } else { false }
    }
}
