import CloudKitWire

// The fields of every record have several names in predicates and orders:
// `creationDate`, `___createTime`, `createdTimestamp`.

extension SystemField {
    private static let propertyNames: [String: SystemField] = [
        "recordID": .recordName,
        "creatorUserRecordID": .createdUserRecordName,
        "lastModifiedUserRecordID": .modifiedUserRecordName,
        "creationDate": .createdTimestamp,
        "modificationDate": .modifiedTimestamp,
    ]

    /// Finds the field that a key means, the names of `CKRecord`'s properties included.
    init?(key: String) {
        guard let field = Self.propertyNames[key] ?? SystemField(name: key) else { return nil }
        self = field
    }
}
