/// Tells of a record that a query subscription matches.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// What happened to the record.
    @nonexhaustive
    public enum Reason: Int, Sendable {
        /// It came to match.
        case recordCreated = 1
        /// It changed.
        case recordUpdated = 2
        /// It was deleted.
        case recordDeleted = 3
    }

    /// What happened to the record.
    open var queryNotificationReason: CKQueryNotification.Reason {
        payload.integer("fo").flatMap(Reason.init(rawValue:)) ?? .recordUpdated
    }

    /// The values of the fields that the subscription asked for.
    open var recordFields: [String: any Sendable]? { payload.fields }

    /// The record's identity.
    open var recordID: CKRecord.ID? {
        guard let name = payload.text("rid"), !name.isEmpty else { return nil }
        return CKRecord.ID(recordName: name, zoneID: payload.zoneID ?? .default)
    }

    /// The database of the record.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
