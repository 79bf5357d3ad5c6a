import CloudKit
import Foundation

/// A record to be sent to the server.
struct OutgoingRecord {
    var name: String
    var record: CKRecord
    /// The temporary files of its assets, deleted after the response.
    var files: [URL] = []
}

/// The fields that a save sends, and those it is compared with.
struct OutgoingSave {
    let changes: [String: StoreValue]
    let version: Int64
    /// The fields of the server's version.
    let base: [String: StoreValue]
    /// The fields of the row now.
    let fields: [String: StoreValue]
}

extension OutgoingRecord {
    /// Sets the fields of a save, and writes the files of its assets into a folder.
    mutating func write(
        _ save: OutgoingSave,
        of row: StoredRow,
        _ table: TableSchema,
        _ mapping: RowMapping,
        isNew: Bool,
        folder: URL
    ) throws {
        // A record that is created again keeps the fields of other versions of the app.
        let kept = isNew ? save.base.filter { table.byField[$0.key] == nil } : save.base
        if isNew { mapping.write(kept, to: record, nil) }
        if let format = table.format {
            return try mapping.write(save.changes, to: record, table, as: format) {
                field,
                content in
                try file(of: content, field, save, folder)
            }
        }
        var files: [String: URL] = [:]
        var sent = save.changes
        for (field, value) in save.changes {
            guard case .asset = value.plain, let column = table.byField[field] else { continue }
            // The bytes have changed since: the newer edit sends them.
            guard save.fields[field] == value, let data = row[column.name]?.allBytes else {
                sent[field] = nil
                continue
            }
            files[field] = try file(of: data, field, save, folder)
        }
        mapping.write(sent, to: record, table, files: files)
        mapping.writeForms(
            kept.merging(save.changes) { $1 },
            over: isNew ? [:] : kept,
            to: record,
            table
        )
    }

    /// Writes the file of an asset.
    private mutating func file(
        of content: Data,
        _ field: String,
        _ save: OutgoingSave,
        _ folder: URL
    ) throws -> URL {
        let file = folder.appending(path: "\(save.version)-\(field)")
        try content.write(to: file)
        files.append(file)
        return file
    }
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
