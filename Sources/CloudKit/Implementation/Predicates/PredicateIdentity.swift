import Foundation

/// Whom an identity stands for, as the service compares identities.
struct PredicateIdentity: Equatable {
    private let name: String
    /// The zone; nil where it is the record's own, and where users are named.
    private let zone: String?
    /// The zone's owner; nil where it is the current user, or where there is no zone.
    private let owner: String?

    /// Takes a name that stands for a record of the zone that is looked at.
    init(name: String, reader: String?) {
        self.name = Self.user(name, reader)
        self.zone = nil
        owner = nil
    }

    /// Takes an identity as it is seen from a record of a zone; nil where only the name counts.
    init(_ recordID: CKRecord.ID, reader: String?, zone home: CKRecordZone.ID?) {
        name = Self.user(recordID.recordName, reader)
        guard let home, !Self.isSame(recordID.zoneID, home, reader) else {
            zone = nil
            owner = nil
            return
        }
        zone = recordID.zoneID.zoneName
        owner = Self.user(recordID.zoneID.ownerName, reader)
    }

    /// What orders of references compare: the name, then the zone where it is another one.
    var sortKey: String {
        [name, zone, owner.flatMap { $0 == CKCurrentUserDefaultName ? nil : $0 }]
            .compactMap(\.self).joined(separator: "\0")
    }

    private static func isSame(
        _ first: CKRecordZone.ID,
        _ second: CKRecordZone.ID,
        _ reader: String?
    ) -> Bool {
        first.zoneName == second.zoneName
            && user(first.ownerName, reader) == user(second.ownerName, reader)
    }

    /// The name of a user: one for the current user, whichever it was.
    private static func user(_ name: String, _ reader: String?) -> String {
        name == reader ? CKCurrentUserDefaultName : name
    }
}
