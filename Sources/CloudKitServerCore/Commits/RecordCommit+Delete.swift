import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error that is thrown before any write if a deletion depends on another one of its batch that
/// may still fail.
struct DeletionWaits: Error {}

extension RecordCommit {
    /// Deletes a record and all records that refer to it with `DELETE_SELF`.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - others: The records of the batch that are known to be deleted too; nil if none is known yet.
    /// - Throws: `RecordFailure`, `DeletionWaits`, or an error of the storage.
    mutating func delete(_ record: StoredRecord, with others: Set<String>? = nil) throws {
        let heads = try doomed(with: record, others)
        try checkCost(of: heads)
        let doomed = heads.map(\.record)
        // Before any row changes: afterwards nothing shows who saw the records.
        let viewers = try isShareable ? sightChanges.viewers(of: doomed, writer) : nil
        let shares = try doomed.filter { $0.type == WireRecord.shareType }
            .compactMap { try writer.record($0.id, in: $0.zone) }
        if !shares.isEmpty { try sightChanges.shareWillChange(writer) }
        // Records are read one at a time because all together may exceed the memory.
        for head in doomed {
            guard let record = try writer.record(head.id, in: head.zone) else { continue }
            try bury(record, seenBy: viewers.map { $0[record.name] ?? [] })
        }
        let names = Set(doomed.map(\.name))
        for share in shares { try forgetShare(share, besides: names) }
    }

    /// Carries out the deletions that waited for each other, except those of records that a
    /// remaining record needs.
    mutating func settle(_ waiting: [Int], _ outcomes: inout [RecordOutcome?]) throws {
        var going = Set(waiting.map { batch.items[$0].name })
        var isSettled = false
        while !isSettled {
            isSettled = true
            // Most lists are ordered from the top of a hierarchy down, and a remaining record keeps
            // those above it.
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
                // It may already have been deleted together with another record of the batch.
                if let record, !record.isDeleted { try commit.delete(record, with: others) }
                return .deleted(name: name, type: record?.type)
            }
        }
    }

    /// Returns the record and those that are deleted with it, once it is known that all of them may be.
    private mutating func doomed(
        with record: StoredRecord,
        _ others: Set<String>?
    ) throws -> [StoredRecordHead] {
        try checkMayWrite(record)
        let heads = try cascade(from: record)
        for head in heads where try placement.refusal(ofDeleting: head.record) != nil {
            throw writeRefusal(record.name)
        }
        try checkNotNeeded(heads.map(\.record), others)
        return heads
    }

    /// Returns the record and those that are deleted with it, nearest first.
    private func cascade(from record: StoredRecord) throws -> [StoredRecordHead] {
        var found = [StoredRecordHead(of: record)]
        var seen: Set = [record.id]
        var next = 0
        while next < found.count {
            let target = found[next].record
            next += 1
            // A share is deleted with its root.
            if let name = target.share, let share = try writer.record(target.zone, name: name),
                !share.isDeleted, seen.insert(share.id).inserted
            {
                found.append(StoredRecordHead(of: share))
            }
            for reference in try references(to: target)
            where reference.kind == .deleteSelf && seen.insert(reference.source).inserted {
                guard let source = try writer.head(of: reference.source, in: target.zone),
                    !source.record.isDeleted
                else { continue }
                found.append(source)
            }
        }
        return found
    }

    /// Refuses a deletion that would delete too much, before anything is written.
    private mutating func checkCost(of doomed: [StoredRecordHead]) throws {
        // Deleting a single record costs as much as saving it did.
        guard doomed.count > 1 else { return }
        let most = doomed.reduce(0) {
            $0 + 4 + indexKeys(of: $1.record.type).mostEntries(of: $1)
        }
        // Where the upper bound fits, nothing has to be counted.
        if call.work.hasRoom(deleting: most) { return }
        var rows = 0
        for head in doomed {
            let count = try entryCount(of: head)
            try call.work.spend(1 + count / 64)
            rows += 4 + count
            try call.work.foresee(deleting: rows)
        }
    }

    /// Returns the number of a record's index entries, reading the record only if its type does not
    /// determine it.
    private mutating func entryCount(of head: StoredRecordHead) throws -> Int {
        let keys = indexKeys(of: head.record.type)
        if let count = keys.fixedCount { return count }
        guard let record = try writer.record(head.record.id, in: head.record.zone) else { return 0 }
        return keys.entries(of: record, try RecordFields(of: record), zone.home()).count
    }

    /// Refuses the deletion if a remaining record needs a deleted one.
    private func checkNotNeeded(_ doomed: [StoredRecord], _ others: Set<String>?) throws {
        let going = Set(doomed.map(\.id))
        for target in doomed {
            for reference in try references(to: target)
            where reference.kind != .deleteSelf && !going.contains(reference.source) {
                guard let source = try writer.record(reference.source, in: target.zone),
                    !source.isDeleted,
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

    /// Returns the references to a record that affect its deletion.
    private func references(to target: StoredRecord) throws -> [StoredReference] {
        let circle = References.circle(of: target.created.user, in: zone.database)
        guard let circle else { return [] }
        return try writer.references(target.zone, to: target.name, in: circle)
    }

    /// Returns whether an existing record will be deleted by this batch.
    ///
    /// - Throws: `DeletionWaits` if its deletion is still to come and may fail individually.
    private func isGoing(_ name: String, _ others: Set<String>?) throws -> Bool {
        if let others { return others.contains(name) }
        guard batch.deletes(name) else { return false }
        // In an atomic batch all deletions succeed, or none.
        if batch.isAtomic { return true }
        guard failures[name] == nil else { return false }
        throw DeletionWaits()
    }

    /// Turns a record into its tombstone.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - viewers: The participants who see it; nil if nothing can be shared.
    /// - Throws: An error of the storage.
    private mutating func bury(
        _ record: StoredRecord,
        seenBy viewers: Set<RowID<StoredUser>>?
    ) throws {
        let fields = try RecordFields(of: record)
        if record.isDamaged {
            call.work.noteDamage(of: record)
            // The fields of a damaged record do not show which entries it has.
            try writer.removeEntries(of: record.id, in: record.zone)
        }
        for entry in indexKeys(of: record.type).entries(of: record, fields, zone.home()) {
            try writer.removeEntry(entry, in: record.zone)
        }
        try writer.removeReferences(from: record.id, in: record.zone)
        if record.hasAssets { try writer.setAssets([], of: record.id, in: record.zone) }
        if record.type == WireRecord.shareType { sharedTops = nil }
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
        bytes -= record.isDamaged ? record.storedBytes : fields.storedBytes
        var last = record
        if try !isLookedAt(record) { last.fields = Data() }
        note(.deleted, last)
    }

    /// Returns whether a notification may need the fields of a deleted record; small ones are
    /// always kept.
    private mutating func isLookedAt(_ record: StoredRecord) throws -> Bool {
        if record.fields.count <= 1024 { return true }
        if let known = lookedAtTypes[record.type] { return known }
        let isLookedAt = try SubscriptionCollection.lookAtFields(
            ofType: record.type,
            in: zone,
            call.environment.id,
            writer
        )
        lookedAtTypes[record.type] = isLookedAt
        return isLookedAt
    }
}
