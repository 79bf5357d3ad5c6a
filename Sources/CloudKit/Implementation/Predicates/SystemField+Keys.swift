import CloudKitWire

// The system fields have several names in predicates and sort orders:
// `creationDate`, `___createTime`, `createdTimestamp`.

extension SystemField {
    private static let propertyNames: [String: SystemField] = [
        "recordID": .recordName,
        "creatorUserRecordID": .createdUserRecordName,
        "lastModifiedUserRecordID": .modifiedUserRecordName,
        "creationDate": .createdTimestamp,
        "modificationDate": .modifiedTimestamp,
    ]

    /// Creates the field that a key names, including the names of `CKRecord`'s properties.
    init?(key: String) {
        guard let field = Self.propertyNames[key] ?? SystemField(name: key) else { return nil }
        self = field
    }
}
