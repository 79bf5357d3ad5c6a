import Foundation

/// The target of an ID, as the service compares IDs.
struct PredicateIdentity: Equatable {
    private let name: String
    /// The zone; nil if it is the record's own, or if the ID names a user.
    private let zone: String?
    /// The zone's owner; nil if it is the current user, or if there is no zone.
    private let owner: String?

    /// Creates the target of a name in the zone of the evaluated record.
    init(name: String, reader: String?) {
        self.name = Self.user(name, reader)
        self.zone = nil
        owner = nil
    }

    /// Creates the target of an ID from a record in a zone; nil if only the name counts.
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

    /// The key to sort references by: the name, then the zone if it is another one.
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

    /// Returns a user's name: always the same one for the current user.
    private static func user(_ name: String, _ reader: String?) -> String {
        name == reader ? CKCurrentUserDefaultName : name
    }
}
