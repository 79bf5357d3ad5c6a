extension CKRecord {
    /// Takes over the version that a service gave the record: nothing is changed any more.
    ///
    /// For services that do not speak the wire protocol, such as a model of one.
    package func acknowledge(changeTag: String) {
        acknowledge { $0.changeTag = changeTag }
    }
}

extension CKServerChangeToken {
    /// The token as its service wrote it.
    package var text: String { token }

    /// Makes the token of a service that does not speak the wire protocol.
    package convenience init(text: String) {
        self.init(token: text)
    }
}

extension CKDatabase.DatabaseChange.Deletion {
    /// Makes the deletion that a service reports.
    package static func reported(
        _ zoneID: CKRecordZone.ID,
        _ reason: Reason = .deleted
    ) -> Self {
        Self(zoneID: zoneID, reason: reason)
    }
}

extension CKDatabase.RecordZoneChange.Deletion {
    /// Makes the deletion that a service reports.
    package static func reported(
        _ recordID: CKRecord.ID,
        _ recordType: CKRecord.RecordType
    ) -> Self {
        Self(recordID: recordID, recordType: recordType)
    }
}
