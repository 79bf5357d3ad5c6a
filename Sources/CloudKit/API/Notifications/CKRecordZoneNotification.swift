/// Tells that something in a zone has changed.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The zone.
    open var recordZoneID: CKRecordZone.ID? { payload.zoneID }

    /// The database of the zone.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
