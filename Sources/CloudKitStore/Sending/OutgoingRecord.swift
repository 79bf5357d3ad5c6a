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

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }
}
