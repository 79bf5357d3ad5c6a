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
    /// What was made for this batch, by record name; nothing of what goes again.
    var sent: [String: SentRecord] = [:]

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }
}

/// A record as it was when it went, so that the answer need not read it again.
struct SentRecord: Sendable {
    var known: KnownRecord
    /// The fields that went.
    var fields: [String: StoreValue]
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
