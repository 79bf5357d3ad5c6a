extension CKRecord {
    /// The record types that CloudKit defines.
    public enum SystemType {
        /// A user's own record.
        public static let userRecord: CKRecord.RecordType = "Users"
        /// A share.
        public static let share: CKRecord.RecordType = "cloudkit.share"
    }

    /// The keys of the fields that every record has, for predicates and sort descriptors.
    public enum SystemFieldKey {
        /// The record's identity.
        public static var recordID: CKRecord.FieldKey { "___recordID" }
        /// Who made the record.
        public static var creatorUserRecordID: CKRecord.FieldKey { "___createdBy" }
        /// When the record was made.
        public static var creationDate: CKRecord.FieldKey { "___createTime" }
        /// Who last changed the record.
        public static var lastModifiedUserRecordID: CKRecord.FieldKey { "___modifiedBy" }
        /// When the record was last changed.
        public static var modificationDate: CKRecord.FieldKey { "___modTime" }
        /// The record above in a shared hierarchy.
        public static let parent: CKRecord.FieldKey = "___parent"
        /// The share that the record is the root of.
        public static let share: CKRecord.FieldKey = "___share"
    }
}
