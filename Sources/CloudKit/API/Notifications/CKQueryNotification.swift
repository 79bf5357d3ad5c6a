import CloudKitWire

/// A notification about a record that matches a query subscription.
open class CKQueryNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The kinds of changes to a record.
    @nonexhaustive
    public enum Reason: Int, Sendable {
        /// A matching record was created.
        case recordCreated = 1
        /// A matching record changed.
        case recordUpdated = 2
        /// A matching record was deleted.
        case recordDeleted = 3
    }

    /// The change to the record.
    open var queryNotificationReason: CKQueryNotification.Reason {
        payload.integer(.reason).flatMap(Reason.init(rawValue:)) ?? .recordUpdated
    }

    /// The values of the fields that the subscription requested.
    open var recordFields: [String: any Sendable]? { payload.fields }

    /// The record's ID.
    open var recordID: CKRecord.ID? {
        guard let name = payload.text(.record), !name.isEmpty else { return nil }
        return CKRecord.ID(recordName: name, zoneID: payload.zoneID ?? .default)
    }

    /// The record's database.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
