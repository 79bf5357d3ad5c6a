import CloudKit
import Foundation

/// A record to be sent to the server.
struct OutgoingRecord {
    var name: String
    var record: CKRecord
    /// The temporary files of its assets, deleted after the response.
    var files: [URL] = []
}

/// The changes that are sent next.
struct OutgoingBatch {
    var saves: [OutgoingRecord] = []
    /// The names of records to delete, with the tags that they are deleted with.
    var deletions: [(name: String, tag: String?)] = []
    /// The names of the records above these in another user's tree that are to be deleted later.
    var deletedAbove: [String] = []
    /// The outbox entries in the batch, by record name.
    var entries: [String: OutboxEntry] = [:]
    /// The saves that include all changes of their entries, by record name; none that is sent again.
    var sent: [String: SentRecord] = [:]

    /// `true` when rows were deleted that were never sent, so that others may have their keys.
    var freesKeys = false

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }
}

/// The details of a save that are needed once it is accepted, so that the response need not read
/// the record.
struct SentRecord: Sendable {
    /// The tag of the version that it was derived from.
    var tag: String?
    /// The version in its stamp.
    var version: Int64
    /// The fields that the server has once it accepts the save, stored relative to the row until
    /// its entry changes.
    var base: Data
}
