import CloudKit

/// A known record's reference to an owner that no longer has it.
struct GraphRelease: Hashable, Sendable {
    let recordID: CKRecord.ID

    /// The field that refers to the owner; nil when the owner is only the record's parent.
    let field: String?

    let owner: CKRecord.ID
}
