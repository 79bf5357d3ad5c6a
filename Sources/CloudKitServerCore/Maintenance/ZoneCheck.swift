import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Compares all rows of a zone with their expected state, inside one read or one commit.
struct ZoneCheck {
    /// The sums of the data derived from each record.
    private struct Sums {
        var entries: [RowID<StoredRecord>: RowSum] = [:]
        var references: [RowID<StoredRecord>: RowSum] = [:]
        var assets: [RowID<StoredRecord>: RowSum] = [:]
    }

    private static let page = 500

    let environment: StoredEnvironment
    let schema: Schema
    let zone: ZoneView
    /// `true` when the index keys have the newest format, so that they can be compared.
    let comparesIndexes: Bool
    /// The writer for repairs; nil if nothing is to be repaired.
    let writer: (any StorageWriter)?

    private(set) var findings: [CheckFinding] = []
    private(set) var records = 0
    private var keys: [String: IndexKeys] = [:]
    private var bytes: Int64 = 0
    private var hasDamage = false
    /// The fields whose values a repair removes, by record.
    private var strays: [(record: RowID<StoredRecord>, names: Set<String>)] = []

    init(
        environment: StoredEnvironment,
        schema: Schema,
        zone: ZoneView,
        comparesIndexes: Bool,
        writer: (any StorageWriter)?
    ) {
        self.environment = environment
        self.schema = schema
        self.zone = zone
        self.comparesIndexes = comparesIndexes
        self.writer = writer
    }

    /// Checks everything.
    mutating func run(_ reader: any StorageReader & DerivedRows) throws {
        var sums = try Self.sums(of: zone.zone.id, reader)
        var sequence: Int64 = -1
        while true {
            let page = try reader.changedRecords(zone.zone.id, after: sequence, limit: Self.page)
            for record in page { try check(record, &sums) }
            guard page.count == Self.page, let last = page.last else { break }
            sequence = last.sequence
        }
        try checkRest(sums)
        try checkBytes()
        try removeStrays()
    }

    private static func sums(
        of zone: RowID<StoredZone>,
        _ reader: any DerivedRows
    ) throws -> Sums {
        var sums = Sums()
        try reader.forEachEntry(in: zone) { sums.entries[$0.record, default: RowSum()].add($0) }
        try reader.forEachReference(in: zone) {
            sums.references[$0.source, default: RowSum()].add($0)
        }
        try reader.forEachAsset(in: zone) { checksum, record in
            sums.assets[record, default: RowSum()].add(checksum)
        }
        return sums
    }

    private mutating func check(_ record: StoredRecord, _ sums: inout Sums) throws {
        let entries = sums.entries.removeValue(forKey: record.id) ?? RowSum()
        let references = sums.references.removeValue(forKey: record.id) ?? RowSum()
        let assets = sums.assets.removeValue(forKey: record.id) ?? RowSum()
        if record.isDamaged {
            hasDamage = true
            return note(
                "the row does not match its checksum; save all fields of the record with cloudkit "
                    + "records save --replace, or restore the data from a backup",
                record
            )
        }
        if record.sequence > zone.zone.headSequence {
            note("its number is beyond the zone's newest; restore the data from a backup", record)
        }
        var fields = RecordFields()
        // Those that the record keeps.
        var kept = fields
        if !record.isDeleted {
            records += 1
            guard let found = fieldsThatCanBeRead(of: record) else { return }
            fields = found
            kept = fields.without(try checkTypes(of: record, fields))
            bytes += fields.storedBytes
        }
        let place = zone.zone.id
        let expected = record.isDeleted ? [] : indexEntries(of: record, kept)
        if comparesIndexes, entries != RowSum(expected) {
            try note("its index entries are not those of its values", record) { writer in
                try writer.removeEntries(of: record.id, in: place)
                try writer.addEntries(expected, in: place)
            }
        }
        let links =
            record.isDeleted
            ? []
            : References(fields: fields, parent: record.parent)
                .stored(from: record, in: zone.database)
        if references != RowSum(links) {
            try note("its references are not noted as they are", record) { writer in
                try writer.removeReferences(from: record.id, in: place)
                for link in links { try writer.addReference(link, in: place) }
            }
        }
        let held = fields.assets.compactMap(\.checksumData)
        if assets != RowSum(held) {
            try note("its assets are not noted as they are", record) { writer in
                try writer.setAssets(held, of: record.id, in: place)
            }
        }
    }

    /// Returns a record's fields and, for a share, its parts; reports the problem and returns nil
    /// if they cannot be read.
    private mutating func fieldsThatCanBeRead(of record: StoredRecord) -> RecordFields? {
        do {
            _ = try record.sharePart
            return try RecordFields(stored: record.fields)
        } catch {
            hasDamage = true
            note("its fields cannot be read; bring the data back from a backup", record)
            return nil
        }
    }

    private mutating func indexEntries(
        of record: StoredRecord,
        _ fields: RecordFields
    ) -> [IndexEntry] {
        let known = keys[record.type]
        let keys = known ?? IndexKeys(schema.types[record.type] ?? RecordTypeSchema(number: 0))
        if known == nil { self.keys[record.type] = keys }
        return keys.entries(of: record, fields, zone.home())
    }

    /// Compares the values of a record with the schema; returns the names of the fields whose values
    /// do not belong to it.
    ///
    /// In development these are left from fields that an import dropped, which earlier versions did
    /// not remove; a repair does. In production no field is ever dropped, so nobody knows what such a
    /// value is, and it stays.
    private mutating func checkTypes(
        of record: StoredRecord,
        _ fields: RecordFields
    ) throws -> Set<String> {
        guard record.type != WireRecord.shareType else { return [] }
        guard let type = schema.types[record.type] else {
            note("the schema has no type \(record.type); import one that has it", record)
            return []
        }
        var names: Set<String> = []
        for (key, field) in fields.fields.sorted(by: { $0.key < $1.key }) {
            guard let value = field.value,
                let problem = Self.problem(value, field, key, type.fields[key], record.type)
            else { continue }
            guard environment.kind == .development else {
                note(problem, record)
                continue
            }
            names.insert(key)
            // They are removed at the end, because that changes the feed which is being read.
            let remedy = "; import a schema that fits it, or let check --repair remove the value"
            try note(problem + remedy, record) { _ in }
        }
        if writer != nil, !names.isEmpty { strays.append((record.id, names)) }
        return names
    }

    /// Returns a description of what is wrong with a value; nil if it is one of the schema's field.
    private static func problem(
        _ value: WireValue,
        _ field: WireField,
        _ key: String,
        _ known: FieldSchema?,
        _ type: String
    ) -> String? {
        guard let known else { return "the schema has no field '\(key)' in \(type)" }
        let isEmptyList = if case .list(let list, _) = value { list.isEmpty } else { false }
        let fits = value.type == known.type || isEmptyList && known.type.isList
        guard !fits || field.isEncrypted != known.isEncrypted else { return nil }
        let encrypted = { $0 ? "encrypted " : "" }
        return "field '\(key)' has a value of type \(encrypted(field.isEncrypted))"
            + "\(value.type.tag), and the schema says "
            + "\(encrypted(known.isEncrypted))\(known.type.tag)"
    }

    /// Removes the values of fields that the schema does not have.
    private func removeStrays() throws {
        guard let writer, !strays.isEmpty,
            var removal = try ValueRemoval(in: zone.zone.id, schema, writer)
        else { return }
        for (id, names) in strays {
            guard let record = try writer.record(id, in: zone.zone.id) else { continue }
            try removal.remove(names, from: record)
        }
        try removal.finish()
    }

    /// Checks data that belongs to nonexistent records.
    private mutating func checkRest(_ sums: Sums) throws {
        let place = zone.zone.id
        for id in sums.entries.keys.sorted(by: { $0.rawValue < $1.rawValue }) where comparesIndexes
        {
            try note("there are index entries of a record that is not there", nil) { writer in
                try writer.removeEntries(of: id, in: place)
            }
        }
        for id in sums.references.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            try note("there are references of a record that is not there", nil) { writer in
                try writer.removeReferences(from: id, in: place)
            }
        }
    }

    private mutating func checkBytes() throws {
        guard !hasDamage, zone.zone.bytes != bytes else { return }
        let problem = "its records are counted as \(zone.zone.bytes) bytes and have \(bytes)"
        let (counted, place) = (bytes, zone.zone.id)
        try note(problem, nil) { writer in
            guard var row = try writer.zone(place) else { return }
            row.bytes = counted
            try writer.updateZone(row)
        }
    }

    // MARK: Noting

    private mutating func note(_ problem: String, _ record: StoredRecord?) {
        findings.append(finding(problem, record))
    }

    /// Reports a problem with derived data, and derives it again if requested.
    private mutating func note(
        _ problem: String,
        _ record: StoredRecord?,
        repair: (any StorageWriter) throws -> Void
    ) throws {
        var finding = finding(problem, record)
        finding.isDerived = true
        if let writer {
            try repair(writer)
            finding.isRepaired = true
        }
        findings.append(finding)
    }

    private func finding(_ problem: String, _ record: StoredRecord?) -> CheckFinding {
        var finding = CheckFinding(problem)
        finding.container = environment.container
        finding.environment = environment.kind.rawValue
        finding.database = zone.database.owner == nil ? "public" : zone.id.ownerRecordName
        finding.zone = zone.id.zoneName
        finding.record = record?.name
        return finding
    }
}
