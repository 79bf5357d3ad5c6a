public import CloudKit

extension CloudKitFieldKey where Value == Date {
    /// When the server first saved the record.
    public static var creationDate: Self { Self(system: "creationDate") }

    /// When the server last saved the record.
    public static var modificationDate: Self { Self(system: "modificationDate") }
}

extension CloudKitFieldKey where Value == CKRecord.ID {
    /// The record's identity.
    public static var recordID: Self { Self(system: "recordID") }

    /// Who made the record.
    public static var creatorUserRecordID: Self { Self(system: "creatorUserRecordID") }

    /// Who last changed the record.
    public static var lastModifiedUserRecordID: Self { Self(system: "lastModifiedUserRecordID") }
}
