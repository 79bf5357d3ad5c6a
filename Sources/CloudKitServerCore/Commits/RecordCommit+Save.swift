import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCommit {
    /// Creates a record, or changes the existing one.
    mutating func save(
        _ item: RecordBatch.Item,
        over existing: StoredRecord?,
        tombstone: StoredRecord?
    ) throws -> StoredRecord {
        let wire = item.operation.record
        redeemed = []
        released = 0
        let type = try recordType(of: wire, item.name, existing)
        let typeSchema = try rules.type(type)
        if let existing {
            try permissions.checkWrite(typeSchema, existing)
        } else {
            try permissions.checkCreate(typeSchema, item.name)
        }
        if let existing, existing.isDamaged {
            call.work.noteDamage(of: existing)
            // Nothing of a damaged record can be kept, so only a save that replaces all fields is
            // accepted.
            guard item.operation.operationType.clearsOtherFields else {
                throw RecordFailure.damaged(item.name)
            }
        }
        let before = try existing.map { try RecordFields(of: $0) }
        let kept = item.operation.operationType.clearsOtherFields ? nil : before
        let prepared = existing == nil ? batch.prepared?.record(item.name, rules) : nil
        let fields =
            try prepared?.fields
            ?? merged(wire.fields, into: kept, before: before, type, item.name)
        try checkSize(fields, item.name)
        let parent = item.parent(over: existing)
        let links = References(fields: fields, parent: parent)
        try checkHomes(of: fields, before: before, item.name)
        try check(links, of: item.name, before: before, existing)
        let counted = existing?.isDamaged == true ? existing?.storedBytes : before?.storedBytes
        let growth = fields.storedBytes - (counted ?? 0)
        try checkQuota(growth, item.name)
        let part = try sharePart(of: wire, item.name, over: existing)
        if isShareable, let parent, existing?.parent != parent {
            if let existing { try checkOverlap(of: item.name, from: existing.parent, to: parent) }
            try checkDepth(of: item.name, from: existing?.parent, to: parent)
        }
        // Before the row is written, while its former place can be read.
        try noteSightChange(from: existing ?? tombstone, to: parent, isShare: part != nil)
        let row = StoredRecord(
            // A record that is created again takes the row of its tombstone, so that the feed lists
            // the name once.
            id: (existing ?? tombstone)?.id ?? RowID(rawValue: 0),
            zone: zone.zone.id,
            name: item.name,
            type: type,
            sequence: takeSequence(),
            created: existing?.created ?? stamp,
            modified: stamp,
            parent: parent,
            share: existing?.share,
            hasAssets: fields.hasAssets,
            fields: prepared?.stored ?? fields.stored,
            extra: try part?.stored ?? rootPart(of: wire, item.name, over: existing)?.stored
        )
        let saved = try store(
            row,
            fields,
            prepared?.entries,
            links,
            over: existing,
            before,
            isNew: tombstone == nil
        )
        // After the record is stored: a refused save leaves its uploads for another one.
        try releaseUploads()
        bytes += growth
        note(existing == nil ? .created : .updated, saved, before: existing)
        return saved
    }

    private func recordType(
        of wire: WireRecord,
        _ name: String,
        _ existing: StoredRecord?
    ) throws -> String {
        if let existing, !existing.isDamaged {
            if let type = wire.recordType, type != existing.type {
                throw RecordFailure(
                    .badRequest,
                    "Record '\(name)' is of type \(existing.type) and cannot become \(type)"
                )
            }
            return existing.type
        }
        // The type of a damaged record may be what is damaged.
        let known = existing.flatMap { rules.schema.types[$0.type] == nil ? nil : $0.type }
        guard let type = wire.recordType ?? known else {
            throw RecordFailure(
                .badRequest,
                existing == nil
                    ? "recordType is missing for '\(name)', which does not exist yet"
                    : "recordType is missing for '\(name)', whose stored type is damaged"
            )
        }
        guard type != "Users" else {
            throw RecordFailure(
                .badRequest,
                "'\(name)' is of type Users; users have their records from the service"
            )
        }
        return type
    }

    /// Returns the fields after the operation, with types checked and receipts redeemed.
    private mutating func merged(
        _ changes: [String: WireField],
        into kept: RecordFields?,
        before: RecordFields?,
        _ type: String,
        _ name: String
    ) throws -> RecordFields {
        var fields = kept ?? RecordFields()
        if kept == nil { fields.fields.reserveCapacity(changes.count) }
        // In a fixed order, so that the same request fails with the same error.
        for key in changes.keys.sorted() {
            guard let field = changes[key] else { continue }
            let checked = try rules.checked(
                field,
                key,
                of: type,
                name,
                isPublic: call.path.database == .public
            )
            guard let checked else {
                fields.fields[key] = nil
                continue
            }
            let isAsset = checked.value?.type.scalar == .asset
            fields.fields[key] =
                isAsset
                ? try redeem(checked, key, of: type, name, before?.fields[key]) : checked
        }
        return fields
    }

    private func checkSize(_ fields: RecordFields, _ name: String) throws {
        let size = fields.byteCount
        guard size <= Limits.recordBytes else {
            throw RecordFailure(
                .badRequest,
                "Record '\(name)' has \(size) bytes without its assets; at most "
                    + "\(Limits.recordBytes) are allowed",
                nativeCode: .limitExceeded
            )
        }
    }

    private mutating func store(
        _ row: StoredRecord,
        _ fields: RecordFields,
        _ entries: [IndexEntry]?,
        _ references: References,
        over existing: StoredRecord?,
        _ before: RecordFields?,
        isNew: Bool
    ) throws -> StoredRecord {
        var row = row
        if isNew {
            row.id = try writer.addRecord(row)
        } else {
            try writer.updateRecord(row)
        }
        let new: [IndexEntry]
        if var entries {
            for index in entries.indices { entries[index].record = row.id }
            new = entries
        } else {
            new = indexKeys(of: row.type).entries(of: row, fields, zone.home())
        }
        // Which entries a damaged record had cannot be computed.
        if let existing, existing.isDamaged {
            try writer.removeEntries(of: existing.id, in: row.zone)
            try writer.addEntries(new, in: row.zone)
            try writer.removeReferences(from: row.id, in: row.zone)
        } else if let existing, let before {
            let old = indexKeys(of: row.type).entries(of: existing, before, zone.home())
            try writer.replaceEntries(old, with: new, in: row.zone)
            try writer.removeReferences(from: row.id, in: row.zone)
        } else {
            try writer.addEntries(new, in: row.zone)
        }
        for reference in references.stored(from: row, in: zone.database) {
            try writer.addReference(reference, in: row.zone)
        }
        if row.hasAssets || existing?.hasAssets == true {
            try writer.setAssets(
                fields.assets.compactMap(\.checksumData),
                of: row.id,
                in: row.zone
            )
        }
        return row
    }

    /// Updates the index entries of a row whose share has changed, but not its values.
    mutating func reindex(_ row: StoredRecord, since before: StoredRecord) throws {
        let keys = indexKeys(of: row.type)
        let fields = try RecordFields(of: row)
        try writer.replaceEntries(
            keys.entries(of: before, fields, zone.home()),
            with: keys.entries(of: row, fields, zone.home()),
            in: zone.zone.id
        )
    }

    /// Returns the indexes of a type; cached until the batch extends the schema.
    mutating func indexKeys(of name: String) -> IndexKeys {
        let type = rules.schema.types[name] ?? RecordTypeSchema(number: 0)
        guard !rules.isChanged else { return IndexKeys(type) }
        if let keys = steadyKeys[name] { return keys }
        let keys = IndexKeys(type)
        steadyKeys[name] = keys
        return keys
    }
}
