import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCommit {
    /// Deletes a record and all that refer to it with `DELETE_SELF`.
    mutating func delete(_ record: StoredRecord) throws {
        try checkAccess(record, parent: nil, record.name)
        let doomed = try cascade(from: record)
        try permissions.checkWrite(try rules.type(record.type), record)
        try checkNotNeeded(doomed)
        for record in doomed { try bury(record) }
        for record in doomed { try forgetShare(record, besides: Set(doomed.map(\.name))) }
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
            for reference in try writer.references(target.zone, to: target.name)
            where reference.kind == .deleteSelf && seen.insert(reference.source).inserted {
                guard let source = try writer.record(reference.source), !source.isDeleted else {
                    continue
                }
                found.append(source)
            }
        }
        return found
    }

    /// Refuses the deletion while a record that stays needs one that goes.
    private func checkNotNeeded(_ doomed: [StoredRecord]) throws {
        let going = Set(doomed.map(\.id))
        for target in doomed {
            for reference in try writer.references(target.zone, to: target.name)
            where reference.kind != .deleteSelf && !going.contains(reference.source) {
                guard let source = try writer.record(reference.source), !source.isDeleted,
                    !batch.deletedNames.contains(source.name)
                else { continue }
                let what = reference.kind == .parent ? "is the parent of" : "is validated by"
                throw RecordFailure(
                    .validatingReferenceError,
                    "Record '\(target.name)' cannot be deleted: it \(what) '\(source.name)'"
                )
            }
        }
    }

    /// Turns a record into its tombstone.
    private mutating func bury(_ record: StoredRecord) throws {
        let fields = try RecordFields(stored: record.fields)
        let type = rules.schema.types[record.type] ?? RecordTypeSchema(number: 0)
        for entry in IndexKeys(type).entries(of: record, fields) {
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
        try writer.updateRecord(tombstone)
        bytes -= fields.storedBytes
        note(.deleted, record)
    }
}
