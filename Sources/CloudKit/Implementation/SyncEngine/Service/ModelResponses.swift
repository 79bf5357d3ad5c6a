extension CKRecord {
    /// Sets the version that a service assigned to the record, which then has no changes.
    ///
    /// For services that do not use the wire protocol, such as a model of one.
    package func acknowledge(changeTag: String) {
        acknowledge { $0.changeTag = changeTag }
    }
}

extension CKServerChangeToken {
    /// The token's text from its service.
    package var text: String { token }

    /// Creates the token of a service that does not use the wire protocol.
    package convenience init(text: String) {
        self.init(token: text)
    }
}

extension CKDatabase.DatabaseChange.Deletion {
    /// Returns a deletion that a service reports.
    package static func reported(
        _ zoneID: CKRecordZone.ID,
        _ reason: Reason = .deleted
    ) -> Self {
        Self(zoneID: zoneID, reason: reason)
    }
}

extension CKDatabase.RecordZoneChange.Deletion {
    /// Returns a deletion that a service reports.
    package static func reported(
        _ recordID: CKRecord.ID,
        _ recordType: CKRecord.RecordType
    ) -> Self {
        Self(recordID: recordID, recordType: recordType)
    }
}
