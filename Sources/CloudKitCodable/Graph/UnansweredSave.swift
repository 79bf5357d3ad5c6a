import CloudKit

/// What a save sent and had no answer for: the server may have it.
///
/// It has to be known before the next save: a value that went back to what it was differs from the
/// known record in nothing, and what the server took meanwhile would stay without a word.
struct UnansweredSave {
    /// The records as they were sent.
    var records: [CKRecord.ID: CKRecord] = [:]

    /// The records that were to be deleted.
    var deletions: Set<CKRecord.ID> = []

    var isEmpty: Bool { records.isEmpty && deletions.isEmpty }

    /// The records of which the server has to be asked.
    var recordIDs: Set<CKRecord.ID> { deletions.union(records.keys) }

    /// Notes what is sent, until there is an answer.
    mutating func note(_ sent: [CKRecord], deleting recordIDs: [CKRecord.ID]) {
        for record in sent { records[record.recordID] = record }
        deletions.formUnion(recordIDs)
    }

    mutating func formUnion(_ other: UnansweredSave) {
        records.merge(other.records) { _, later in later }
        deletions.formUnion(other.deletions)
    }

    /// Takes what another graph sent of some records.
    mutating func take(_ recordIDs: Set<CKRecord.ID>, from other: inout UnansweredSave) {
        for recordID in recordIDs {
            if let record = other.records.removeValue(forKey: recordID) {
                records[recordID] = record
            }
            if other.deletions.remove(recordID) != nil { deletions.insert(recordID) }
        }
    }
}
