public import CloudKit

extension CloudKitFieldKey where Value == Date {
    /// The date when the server first saved the record.
    public static var creationDate: Self { Self(system: "creationDate") }

    /// The date when the server last saved the record.
    public static var modificationDate: Self { Self(system: "modificationDate") }
}

extension CloudKitFieldKey where Value == CKRecord.ID {
    /// The record's identity.
    public static var recordID: Self { Self(system: "recordID") }

    /// The identity of the user who created the record.
    public static var creatorUserRecordID: Self { Self(system: "creatorUserRecordID") }

    /// The identity of the user who last changed the record.
    public static var lastModifiedUserRecordID: Self { Self(system: "lastModifiedUserRecordID") }
}
