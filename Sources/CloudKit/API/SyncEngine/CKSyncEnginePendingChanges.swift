extension CKSyncEngine {
    /// A pending save or deletion of a record.
    @nonexhaustive
    public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
        /// A save of the record.
        case saveRecord(CKRecord.ID)
        /// A deletion of the record.
        case deleteRecord(CKRecord.ID)

        /// A textual representation with the change and the record.
        public var description: String {
            switch self {
            case .saveRecord(let recordID): "save \(recordID)"
            case .deleteRecord(let recordID): "delete \(recordID)"
            }
        }
    }

    /// A pending save or deletion of a zone.
    @nonexhaustive
    public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
        /// A save of the zone.
        case saveZone(CKRecordZone)
        /// A deletion of the zone.
        case deleteZone(CKRecordZone.ID)

        /// Returns whether both are the same change of zones with the same ID.
        public static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.isDeletion == rhs.isDeletion && lhs.zoneID.isEqual(rhs.zoneID)
        }

        /// Hashes the zone's ID and the kind of change.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(isDeletion)
            hasher.combine(zoneID)
        }

        /// A textual representation with the change and the zone.
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
