import CloudKit

/// The items that a save sent without receiving a response: the server may have them.
///
/// They must be looked up before the next save: a value that returned to its former state does not
/// differ from the known record, so the server's newer version would remain unnoticed.
struct UnconfirmedSave {
    /// The records as they were sent.
    var records: [CKRecord.ID: CKRecord] = [:]

    /// The records that were to be deleted.
    var deletions: Set<CKRecord.ID> = []

    var isEmpty: Bool { records.isEmpty && deletions.isEmpty }

    /// The records whose state the server must report.
    var recordIDs: Set<CKRecord.ID> { deletions.union(records.keys) }

    /// Notes the sent items until a response arrives.
    mutating func note(_ sent: [CKRecord], deleting recordIDs: [CKRecord.ID]) {
        for record in sent { records[record.recordID] = record }
        deletions.formUnion(recordIDs)
    }

    mutating func formUnion(_ other: UnconfirmedSave) {
        records.merge(other.records) { _, later in later }
        deletions.formUnion(other.deletions)
    }

    /// Takes over the unanswered items of some records from another graph.
    mutating func take(_ recordIDs: Set<CKRecord.ID>, from other: inout UnconfirmedSave) {
        for recordID in recordIDs {
            if let record = other.records.removeValue(forKey: recordID) {
                records[recordID] = record
            }
            if other.deletions.remove(recordID) != nil { deletions.insert(recordID) }
        }
    }
}
