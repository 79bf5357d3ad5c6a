import CloudKit
import Foundation
import GRDB

/// The return of edits to rows that another device created again after their deletion.
///
/// That device had not seen the edits; this one kept them with the deletion, and sends them again.
struct LostEditRestorer: ApplyPhase {
    let context: ApplyContext

    /// Restores the edits of some rows that have just been inserted.
    func restore(_ inserted: [Candidate]) throws {
        guard !inserted.isEmpty else { return }
        // Removed as they are read, so that edits return only once.
        let deleted = try DeletedRecord.take(database, inserted.map(\.known.name))
        guard !deleted.isEmpty else { return }
        // Whether the row may be written here follows from shares that may have come with this
        // batch.
        try PlaceKeeper(context: context).derivePermissions()
        for candidate in inserted {
            // In another zone the same name is another record.
            guard let last = deleted[candidate.known.name], last.zone == candidate.known.zone
            else { continue }
            if last.wasShared { try noteShare(of: candidate, last.fields) }
            try restore(candidate, last.fields)
        }
    }

    /// Notes in the journal that the share of a row was deleted with it, and did not return with it.
    private func noteShare(of candidate: Candidate, _ before: [String: StoreValue]) throws {
        let fields = try candidate.known.baseFields(like: candidate.fields)
        // A row that was created under the same key without knowing this one never had the share.
        guard zone == .own, candidate.known.archived()?.share == nil,
            RecordStamp(fields: fields).hasAncestor(of: RecordStamp(fields: before))
        else { return }
        let lost = MergePlan.Overruled(fields: [:], side: .local, rule: JournalEntry.share)
        try journal.add([lost], candidate.key, kept: candidate.fields, at: clock.edit(0))
    }

    private func restore(_ candidate: Candidate, _ before: [String: StoreValue]) throws {
        let (known, key, table) = (candidate.known, candidate.key, candidate.table)
        let fields = try known.baseFields(like: candidate.fields)
        // Where the user may not write, the edits could not be sent.
        guard try Place.fetch(database, key)?.writes != false,
            let row = try rows.row(key, table),
            let lost = LostEdits(
                of: before,
                in: fields,
                (RecordStamp(fields: before), RecordStamp(fields: fields)),
                modified: known.archived()?.modificationDate
                    .map { Int64($0.timeIntervalSince1970 * 1_000_000) },
                isCompared: table.isRestorable,
                rule: table.rule(ofField:)
            )
        else { return }
        var overruled = lost.overruled
        let values = lost.restored.mapValues(\.value)
        if try write(values, candidate, over: row) {
            let now = try StoreClock.tick(database)
            // The edits keep their own times: as edits of now they would win over later ones.
            let times = lost.restored.mapValues { clock.time(of: $0.time) }
            if !times.isEmpty {
                try OutboxEntry(key: key, isDeleted: false, changed: times, version: now)
                    .save(database)
            }
        } else {
            overruled.append(.init(fields: values, side: .local, rule: "deletion"))
        }
        let kept = try rows.row(key, table).map { try mapping.fields($0, table) }
        try journal.add(overruled, key, kept: kept, at: clock.edit(0))
    }

    /// Writes values into a row, and returns whether it can have them.
    private func write(
        _ values: [String: StoreValue],
        _ candidate: Candidate,
        over row: StoredRow
    ) throws -> Bool {
        let (key, table) = (candidate.key, candidate.table)
        let edited = Candidate(
            known: candidate.known,
            table: table,
            key: key,
            existing: row,
            fields: values
        )
        // With a reference to a missing row, the row itself would have to wait.
        guard try MissingParents(context: context).all(of: edited).isEmpty else { return false }
        do {
            _ = try rows.write(values, key, table, over: row, files: [:])
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        } catch is UnmappableValue {
            return false
        }
    }
}
