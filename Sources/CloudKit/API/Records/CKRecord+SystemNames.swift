extension CKRecord {
    /// The record types that CloudKit defines.
    public enum SystemType {
        /// The record type of users.
        public static let userRecord: CKRecord.RecordType = "Users"
        /// The record type of shares.
        public static let share: CKRecord.RecordType = "cloudkit.share"
    }

    /// The keys of the fields that every record has, for predicates and sort descriptors.
    public enum SystemFieldKey {
        /// The key of the record's ID.
        public static var recordID: CKRecord.FieldKey { "___recordID" }
        /// The key of the user who created the record.
        public static var creatorUserRecordID: CKRecord.FieldKey { "___createdBy" }
        /// The key of the record's creation date.
        public static var creationDate: CKRecord.FieldKey { "___createTime" }
        /// The key of the user who last changed the record.
        public static var lastModifiedUserRecordID: CKRecord.FieldKey { "___modifiedBy" }
        /// The key of the date of the last change.
        public static var modificationDate: CKRecord.FieldKey { "___modTime" }
        /// The key of the reference to the record above in a shared hierarchy.
        public static let parent: CKRecord.FieldKey = "___parent"
        /// The key of the reference to the share whose root is this record.
        public static let share: CKRecord.FieldKey = "___share"
    }
}
