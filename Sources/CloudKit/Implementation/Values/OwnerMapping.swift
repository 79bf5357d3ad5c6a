import CloudKitWire
import Foundation

/// The mapping between the names of owners in the API, where the current user is
/// `__defaultOwner__`, and on the wire, where that name is left out or spelled out.
struct OwnerMapping: Sendable {
    /// The database: in the private one every zone is the caller's.
    let scope: CKDatabase.Scope
    /// The caller's record name; nil when no user is signed in.
    let caller: String?

    /// Returns the wire's form of a zone's ID.
    func wire(_ zoneID: CKRecordZone.ID) -> WireZoneID {
        WireZoneID(
            zoneName: zoneID.zoneName,
            ownerRecordName: zoneID.ownerName == CKCurrentUserDefaultName ? nil : zoneID.ownerName
        )
    }

    /// Returns the wire's form of a target record's name: the current user's record has another
    /// name there.
    func wire(recordName: String) -> String {
        recordName == CKCurrentUserDefaultName ? caller ?? recordName : recordName
    }

    /// Returns the API's form of a zone's ID.
    func native(_ zoneID: WireZoneID) -> CKRecordZone.ID {
        let name = zoneID.zoneName.isEmpty ? WireZoneID.defaultZoneName : zoneID.zoneName
        guard scope != .private, let owner = zoneID.ownerRecordName, !owner.isEmpty else {
            return CKRecordZone.ID(zoneName: name)
        }
        return CKRecordZone.ID(zoneName: name, ownerName: user(owner))
    }

    /// Returns the API's form of a zone's ID; `home` itself if it is that zone, the most frequent
    /// case.
    func native(_ zoneID: WireZoneID, near home: CKRecordZone.ID) -> CKRecordZone.ID {
        if zoneID.zoneName == home.zoneName {
            if scope == .private, home.ownerName == CKCurrentUserDefaultName { return home }
            if zoneID.ownerRecordName == home.ownerName { return home }
        }
        return native(zoneID)
    }

    /// Returns the ID of a user's record.
    func userRecordID(_ name: String?) -> CKRecord.ID? {
        guard let name, !name.isEmpty else { return nil }
        return CKRecord.ID(recordName: user(name))
    }

    private func user(_ name: String) -> String {
        name == caller ? CKCurrentUserDefaultName : name
    }
}
