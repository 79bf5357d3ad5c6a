import CloudKitWebClient
import CloudKitWire
import Foundation
import Synchronization

/// The records to save and delete with one call.
struct RecordModification: Sendable {
    typealias Results = (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )

    /// The maximum number of items in one call of the native API; web services take 200, so the
    /// client splits requests.
    static let itemLimit = 400

    var saving: [CKRecord]
    var deleting: [CKRecord.ID]
    var policy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged
    var atomically = true
    /// The closure to call with the sent part of each record, from 0 to 1.
    var progress: @Sendable (CKRecord, Double) -> Void = { _, _ in }

    /// Checks the modification before anything is sent.
    ///
    /// - Throws: `limitExceeded` for too many items, `invalidArguments` for a duplicate item.
    func validate() throws(CKError) {
        try Self.check(itemCount: saving.count + deleting.count)
        var seen: Set<CKRecord.ID> = []
        for recordID in saving.map(\.recordID) + deleting
        where !seen.insert(recordID).inserted {
            throw CKError(
                .invalidArguments,
                message: "Record \(recordID.recordName) occurs twice in one request; a record can "
                    + "be saved or deleted once"
            )
        }
    }

    /// Checks the number of items in a call that modifies or fetches them.
    ///
    /// - Throws: `limitExceeded` for too many.
    static func check(itemCount: Int) throws(CKError) {
        guard itemCount > itemLimit else { return }
        throw CKError(
            .limitExceeded,
            message: "\(itemCount) items in one call; the limit is \(itemLimit): name them in "
                + "smaller batches"
        )
    }

    /// Checks that a new share is saved with its root record, in the private database.
    ///
    /// - Throws: `badDatabase` in the public database, `invalidArguments` without the root record.
    func validateShares(in scope: CKDatabase.Scope) throws(CKError) {
        for case let share as CKShare in saving {
            guard scope != .public else {
                throw CKError(
                    .badDatabase,
                    message: "The public database cannot hold shares such as "
                        + "\(share.recordID.recordName)"
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

    /// The records to save, none before its parent, which might otherwise be sent with a later
    /// request.
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
