import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

/// What is to be saved and deleted with one call.
struct RecordModification: Sendable {
    typealias Results = (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    /// What the native API takes in one call; web services take 200, to which the client cuts.
    static let itemLimit = 400

    var saving: [CKRecord]
    var deleting: [CKRecord.ID]
    var policy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged
    var atomically = true
    /// Is told of each record how much of it was sent, from 0 to 1.
    var progress: @Sendable (CKRecord, Double) -> Void = { _, _ in }

    /// Checks what can be known before anything is sent.
    ///
    /// - Throws: `limitExceeded` for too many items, `invalidArguments` for an item named twice.
    func validate() throws(CKError) {
        try Self.check(itemCount: saving.count + deleting.count)
        var seen: Set<CKRecord.ID> = []
        for recordID in saving.map(\.recordID) + deleting
        where !seen.insert(recordID).inserted {
            throw CKError(
                .invalidArguments,
                message: "Record \(recordID.recordName) stands twice in one request; a record is "
                    + "saved or deleted once"
            )
        }
    }

    /// Checks how many items a call names, to modify them or to fetch them.
    ///
    /// - Throws: `limitExceeded` for too many.
    static func check(itemCount: Int) throws(CKError) {
        guard itemCount > itemLimit else { return }
        throw CKError(
            .limitExceeded,
            message: "\(itemCount) items in one call; at most \(itemLimit) are taken: name them in "
                + "smaller batches"
        )
    }

    /// A new share travels with its root record, and lives in the private database.
    ///
    /// - Throws: `badDatabase` in the public database, `invalidArguments` without the root record.
    func validateShares(in scope: CKDatabase.Scope) throws(CKError) {
        for case let share as CKShare in saving {
            guard scope != .public else {
                throw CKError(
                    .badDatabase,
                    message: "The public database keeps no shares, as "
                        + "\(share.recordID.recordName) is"
                )
            }
            guard share.recordChangeTag == nil, let root = share.parts.rootRecordID,
                !saving.contains(where: { $0.recordID.isEqual(root) })
            else { continue }
            throw CKError(
                .invalidArguments,
                message: "The new share \(share.recordID.recordName) is saved without its root "
                    + "record \(root.recordName); save both with one operation"
            )
        }
    }

    /// The records to save, none before its parent, which may otherwise go with a later request.
    var parentsFirst: [CKRecord] {
        let records = Dictionary(saving.map { ($0.recordID, $0) }) { $1 }
        var placed: Set<CKRecord.ID> = []
        var ordered: [CKRecord] = []
        for record in saving {
            var line: [CKRecord] = []
            var next: CKRecord? = record
            while let record = next, placed.insert(record.recordID).inserted {
                line.append(record)
                next = record.parent.flatMap { records[$0.recordID] }
            }
            ordered += line.reversed()
        }
        return ordered
    }

    /// The parts of the modification, one for each zone, in the order of first appearance.
    var byZone: [(zoneID: CKRecordZone.ID, part: RecordModification)] {
        (saving.map(\.recordID) + deleting).byZone.map { zoneID, _ in
            var part = self
            part.saving = saving.filter { $0.recordID.zoneID.isEqual(zoneID) }
            part.deleting = deleting.filter { $0.zoneID.isEqual(zoneID) }
            return (zoneID, part)
        }
    }
}
