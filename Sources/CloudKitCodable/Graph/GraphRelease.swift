import CloudKit

/// What a known record says of an owner that does not have it any more.
struct GraphRelease: Hashable, Sendable {
    let recordID: CKRecord.ID

    /// The field that refers to the owner; nil when the owner is the record's parent and no more.
    let field: String?

    let owner: CKRecord.ID
}
