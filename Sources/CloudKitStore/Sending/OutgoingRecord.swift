import CloudKit
import Foundation

/// A record on its way to the server.
struct OutgoingRecord {
    var name: String
    var record: CKRecord
    /// The temporary files of its assets, to be removed after the answer.
    var files: [URL] = []
}

/// What is sent next.
struct OutgoingBatch {
    var saves: [OutgoingRecord] = []
    /// The names of records to delete, and the tags they are deleted with.
    var deletions: [(name: String, tag: String?)] = []
    /// The outbox entries in the batch, by record name.
    var entries: [String: OutboxEntry] = [:]
    /// The saves that say all that their entries do, by record name; none of what goes again.
    var sent: [String: SentRecord] = [:]

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }
}

/// What must be known of a save once it is accepted, so that the answer need not read the record.
struct SentRecord: Sendable {
    /// The tag of the version that it was made from.
    var tag: String?
    /// The version that it is stamped with.
    var version: Int64
    /// The fields as the server has them once it accepts the save, beside the row as it is until its
    /// entry is another.
    var base: Data
}

/// What the server says of a record that it accepted.
struct SavedRecord: Sendable {
    var name: String
    var tag: String?
    var system: Data
    /// The names of the record above it in a shared tree, and of its share.
    var parent: String?
    var share: String?
    /// When the server accepted it, in microseconds.
    var modified: Int64?

    init(_ record: CKRecord) {
        name = record.recordID.recordName
        tag = record.recordChangeTag
        system = RecordArchive.data(record)
        parent = record.parent?.recordID.recordName
        share = record.share?.recordID.recordName
        modified = record.modificationDate.map { Int64($0.timeIntervalSince1970 * 1_000_000) }
    }
}
