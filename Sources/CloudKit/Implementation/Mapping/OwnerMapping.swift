import CloudKitWire
import Foundation

/// Between the names of owners in the API, where the current user is `__defaultOwner__`, and on the
/// wire, where it is left out or spelled out.
struct OwnerMapping: Sendable {
    /// The database: in the private one every zone is the caller's.
    let scope: CKDatabase.Scope
    /// The caller's record name; nil when no user is signed in.
    let caller: String?

    /// The wire's form of a zone's identity.
    func wire(_ zoneID: CKRecordZone.ID) -> WireZoneID {
        WireZoneID(
            zoneName: zoneID.zoneName,
            ownerRecordName: zoneID.ownerName == CKCurrentUserDefaultName ? nil : zoneID.ownerName
        )
    }

    /// The wire's form of the name of a record that is referred to: the current user's record has
    /// another name there.
    func wire(recordName: String) -> String {
        recordName == CKCurrentUserDefaultName ? caller ?? recordName : recordName
    }

    /// The API's form of a zone's identity.
    func native(_ zoneID: WireZoneID) -> CKRecordZone.ID {
        let name = zoneID.zoneName.isEmpty ? WireZoneID.defaultZoneName : zoneID.zoneName
        guard scope != .private, let owner = zoneID.ownerRecordName, !owner.isEmpty else {
            return CKRecordZone.ID(zoneName: name)
        }
        return CKRecordZone.ID(zoneName: name, ownerName: user(owner))
    }

    /// The API's form of a zone's identity; `home` itself where it is that zone, as it mostly is.
    func native(_ zoneID: WireZoneID, near home: CKRecordZone.ID) -> CKRecordZone.ID {
        if zoneID.zoneName == home.zoneName {
            if scope == .private, home.ownerName == CKCurrentUserDefaultName { return home }
            if zoneID.ownerRecordName == home.ownerName { return home }
        }
        return native(zoneID)
    }

    /// The identity of a user's record.
    func userRecordID(_ name: String?) -> CKRecord.ID? {
        guard let name, !name.isEmpty else { return nil }
        return CKRecord.ID(recordName: user(name))
    }

    private func user(_ name: String) -> String {
        name == caller ? CKCurrentUserDefaultName : name
    }
}
