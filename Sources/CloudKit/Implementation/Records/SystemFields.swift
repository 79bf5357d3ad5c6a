import Foundation

/// The members that every record has in addition to its fields.
struct SystemFields {
    let recordType: CKRecord.RecordType
    let recordID: CKRecord.ID
    /// The version of the server's copy that this record comes from; nil if it was never saved.
    var changeTag: String?
    var creationDate: Date?
    var creator: CKRecord.ID?
    var modificationDate: Date?
    var modifier: CKRecord.ID?
    var parent: CKRecord.Reference?
    /// `true` when the server's copy may have a parent and this record no longer has one.
    var removesParent = false
    var share: CKRecord.Reference?
    /// The record name of the user whose device read the record, and who has another name in IDs;
    /// nil if it is not known.
    var reader: String?
}
