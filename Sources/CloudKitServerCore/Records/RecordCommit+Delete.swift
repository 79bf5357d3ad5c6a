import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Thrown before anything is written where a deletion depends on another one of its batch that may
/// still fail.
struct DeletionWaits: Error {}

extension RecordCommit {
    /// Deletes a record and all that refer to it with `DELETE_SELF`.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - others: The records of the batch that are known to go too; nil as long as none is.
    /// - Throws: `RecordFailure`, `DeletionWaits`, or what the storage throws.
    mutating func delete(_ record: StoredRecord, with others: Set<String>? = nil) throws {
        let doomed = try doomed(with: record, others)
        try checkCost(of: doomed)
        let viewers = try isShareable ? sightChanges.viewers(of: doomed, writer) : nil
        if doomed.contains(where: { $0.type == WireRecord.shareType }) {
            try sightChanges.shareWillChange(writer)
        }
        for record in doomed { try bury(record, seenBy: viewers.map { $0[record.name] ?? [] }) }
        for record in doomed { try forgetShare(record, besides: Set(doomed.map(\.name))) }
    }

    /// Carries out the deletions that waited for each other, but for those of records that one
    /// needs which stays.
    mutating func settle(_ waiting: [Int], _ outcomes: inout [RecordOutcome?]) throws {
        var going = Set(waiting.map { batch.items[$0].name })
        var isSettled = false
        while !isSettled {
            isSettled = true
            // Most lists go from the top of a hierarchy down, and what stays holds what is above.
            for place in waiting.reversed() where outcomes[place] == nil {
                let name = batch.items[place].name
                let others = going
                let outcome = try attempt(name) { commit in
                    if let record = try commit.writer.record(commit.zone.zone.id, name: name),
                        !record.isDeleted
                    {
                        _ = try commit.doomed(with: record, others)
                    }
                    return .deleted(name: name, type: nil)
                }
                guard outcome.isFailure else { continue }
                outcomes[place] = outcome
                going.remove(name)
                isSettled = false
            }
        }
        let others = going
        for place in waiting.reversed() where outcomes[place] == nil {
            let name = batch.items[place].name
            outcomes[place] = try attempt(name) { commit in
                let record = try commit.writer.record(commit.zone.zone.id, name: name)
                // One that went with another of the batch is gone already.
                if let record, !record.isDeleted { try commit.delete(record, with: others) }
                return .deleted(name: name, type: record?.type)
            }
        }
    }

    /// The record and those that go with it, once it is known that all of them may.
    private mutating func doomed(
        with record: StoredRecord,
        _ others: Set<String>?
    ) throws -> [StoredRecord] {
        try checkMayWrite(record)
        let doomed = try cascade(from: record)
        for record in doomed where try placement.refusal(ofDeleting: record) != nil {
            throw writeRefusal(doomed[0].name)
        }
        try checkNotNeeded(doomed, others)
        return doomed
    }

    /// The record and those that go with it, nearest first.
    private func cascade(from record: StoredRecord) throws -> [StoredRecord] {
        var found = [record]
        var seen: Set = [record.id]
        var next = 0
        while next < found.count {
            let target = found[next]
            next += 1
            // A share goes with its root.
            if let name = target.share, let share = try writer.record(target.zone, name: name),
                !share.isDeleted, seen.insert(share.id).inserted
            {
                found.append(share)
            }
            for reference in try references(to: target)
            where reference.kind == .deleteSelf && seen.insert(reference.source).inserted {
                guard let source = try writer.record(reference.source), !source.isDeleted else {
                    continue
                }
                found.append(source)
            }
        }
        return found
    }

    /// Refuses a deletion that takes too much along, before anything is written.
    private mutating func checkCost(of doomed: [StoredRecord]) throws {
        // A record that goes alone costs what saving it did.
        guard doomed.count > 1 else { return }
        var rows = 0
        for record in doomed {
            let entries = indexKeys(of: record.type)
                .entries(of: record, try RecordFields(of: record), zone.home())
            try call.work.spend(1 + entries.count / 64)
            rows += 4 + entries.count
            try call.work.foresee(deleting: rows)
        }
    }

    /// Refuses the deletion while a record that stays needs one that goes.
    private func checkNotNeeded(_ doomed: [StoredRecord], _ others: Set<String>?) throws {
        let going = Set(doomed.map(\.id))
        for target in doomed {
            for reference in try references(to: target)
            where reference.kind != .deleteSelf && !going.contains(reference.source) {
                guard let source = try writer.record(reference.source), !source.isDeleted,
                    try !isGoing(source.name, others)
                else { continue }
                let what = reference.kind == .parent ? "is the parent of" : "is validated by"
                let who = try sight.shows(source, writer) ? "'\(source.name)'" : "another record"
                throw RecordFailure(
                    .validatingReferenceError,
                    "Record '\(target.name)' cannot be deleted: it \(what) \(who)"
                )
            }
        }
    }

    /// The references to a record that its deletion meets.
    private func references(to target: StoredRecord) throws -> [StoredReference] {
        let circle = References.circle(of: target.created.user, in: zone.database)
        guard let circle else { return [] }
        return try writer.references(target.zone, to: target.name, in: circle)
    }

    /// Whether a record that is there still goes with this batch.
    ///
    /// - Throws: `DeletionWaits` where its deletion is to come and may fail alone.
    private func isGoing(_ name: String, _ others: Set<String>?) throws -> Bool {
        if let others { return others.contains(name) }
        guard batch.deletes(name) else { return false }
        if batch.isAtomic { return true }
        guard failures[name] == nil else { return false }
        throw DeletionWaits()
    }

    /// Turns a record into its tombstone.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - viewers: The participants who see it; nil where nothing can be shared.
    /// - Throws: What the storage throws.
    private mutating func bury(
        _ record: StoredRecord,
        seenBy viewers: Set<RowID<StoredUser>>?
    ) throws {
        let fields = try RecordFields(of: record)
        if record.isDamaged {
            call.work.noteDamage(of: record)
            try writer.removeEntries(of: record.id, in: record.zone)
        }
        for entry in indexKeys(of: record.type).entries(of: record, fields, zone.home()) {
            try writer.removeEntry(entry, in: record.zone)
        }
        try writer.removeReferences(from: record.id)
        if record.hasAssets { try writer.setAssets([], of: record.id) }
        var tombstone = record
        tombstone.sequence = takeSequence()
        tombstone.modified = stamp
        tombstone.isDeleted = true
        tombstone.hasAssets = false
        tombstone.share = nil
        tombstone.extra = nil
        tombstone.fields = Data()
        if let viewers { try tombstone.setLastViewers(viewers) }
        try writer.updateRecord(tombstone)
        bytes -= fields.storedBytes
        note(.deleted, record)
    }
}
