/// A notification about changes in a zone.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The zone's ID.
    open var recordZoneID: CKRecordZone.ID? { payload.zoneID }

    /// The scope of the zone's database.
    open var databaseScope: CKDatabase.Scope { payload.scope }
}
