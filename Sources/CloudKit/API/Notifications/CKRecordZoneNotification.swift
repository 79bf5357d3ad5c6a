/// Tells that something in a zone has changed.
open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The zone.
    public var recordZoneID: CKRecordZone.ID? { payload.zoneID }

    /// The database of the zone.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}
