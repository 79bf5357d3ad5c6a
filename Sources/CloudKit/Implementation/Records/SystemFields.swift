import Foundation

/// What every record has besides its fields.
struct SystemFields {
    let recordType: CKRecord.RecordType
    let recordID: CKRecord.ID
    /// The version of the server's copy that this record comes from; nil when it was never saved.
    var changeTag: String?
    var creationDate: Date?
    var creator: CKRecord.ID?
    var modificationDate: Date?
    var modifier: CKRecord.ID?
    var parent: CKRecord.Reference?
    /// Whether the server's copy may have a parent and this record has none any more.
    var removesParent = false
    var share: CKRecord.Reference?
    /// The record name of the user whose device read the record, whom identities call by another;
    /// nil when it is not known.
    var reader: String?
}
