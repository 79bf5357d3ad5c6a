#if PostgreSQL
import CloudKitServerCore
import Foundation

/// Random changes of a zone's rows, and lines that say what a transaction reads between them.
///
/// The lines name no row numbers, so that they are the same for all engines.
struct RandomRows {
    private var generator: SplitMix
    private let zone: RowID<StoredZone>
    private let database: StoredDatabase
    private var sequence: Int64 = 0
    private(set) var lines: [String] = []
    /// The names of all records that there were.
    private var names: [RowID<StoredRecord>: String] = [:]
    /// The rows of the records that there are: some engines give the numbers of others again.
    private var rows: [String: RowID<StoredRecord>] = [:]

    init(seed: UInt64, zone: RowID<StoredZone>, in database: StoredDatabase) {
        generator = SplitMix(state: seed)
        self.zone = zone
        self.database = database
    }

    /// Changes and reads rows in one transaction.
    mutating func run(_ steps: Int, _ writer: any StorageWriter) throws {
        for _ in 0..<steps {
            if chance(3) { try announce(writer) }
            try change(writer)
            for _ in 0..<3 { lines.append(try look(writer)) }
        }
    }

    // MARK: Choices

    private mutating func number(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    private mutating func chance(_ count: Int) -> Bool { number(count) == 0 }

    private mutating func name() -> String { "r\(number(9))" }

    private mutating func key() -> Data { Data([UInt8(number(4)), UInt8(number(3))]) }

    private mutating func reference() -> (target: String, circle: String) {
        (name(), chance(2) ? "" : "me")
    }

    private mutating func scan() -> IndexScan {
        var scan = IndexScan(
            zone: zone,
            index: Int64(number(2)),
            lowerBound: chance(2) ? Data() : key(),
            upperBound: chance(2) ? nil : key(),
            isDescending: chance(2),
            limit: 1 + number(6)
        )
        if chance(4), let row = rows[name()] {
            scan.after = IndexEntry(index: scan.index, key: key(), record: row)
        }
        return scan
    }

    // MARK: Changes

    private mutating func change(_ writer: any StorageWriter) throws {
        let name = name()
        let row = try writer.record(zone, name: name)
        switch number(14) {
        case 0..<4: try save(name, over: row, writer)
        case 4:
            guard let row else { return }
            try writer.removeEntries(of: row.id, in: zone)
            try writer.removeReferences(from: row.id, in: zone)
            try writer.setAssets([], of: row.id, in: zone)
            try writer.removeRecord(row.id, in: zone)
            rows[name] = nil
        case 5, 6:
            guard let row else { return }
            let entries = (0..<3).map { _ in
                IndexEntry(index: Int64(number(2)), key: key(), record: row.id)
            }
            try writer.addEntries(entries, in: zone)
        case 7:
            guard let row else { return }
            let entry = IndexEntry(index: Int64(number(2)), key: key(), record: row.id)
            try writer.removeEntry(entry, in: zone)
        case 8, 9:
            guard let row else { return }
            let (target, circle) = reference()
            let kind: StoredReference.Kind = [.deleteSelf, .validate, .parent][number(3)]
            try writer.addReference(
                StoredReference(source: row.id, target: target, kind: kind, circle: circle),
                in: zone
            )
        case 10:
            if let row { try writer.removeReferences(from: row.id, in: zone) }
        case 11: try changeDocument(writer)
        case 12:
            guard let row else { return }
            try writer.setAssets(chance(2) ? [] : [key(), key()], of: row.id, in: zone)
        default: try changeRest(row, writer)
        }
    }

    private mutating func save(
        _ name: String,
        over row: StoredRecord?,
        _ writer: any StorageWriter
    ) throws {
        sequence += 1
        var record = StoredRecord(
            id: row?.id ?? RowID(rawValue: 0),
            zone: zone,
            name: name,
            type: "T",
            sequence: sequence,
            created: .init(milliseconds: 1, user: "_a"),
            modified: .init(milliseconds: sequence, user: "_b"),
            fields: Data("\(generator.next())".utf8)
        )
        record.parent = chance(2) ? nil : self.name()
        record.share = chance(3) ? "s\(number(3))" : nil
        record.isDeleted = chance(4)
        if row == nil {
            record.id = try writer.addRecord(record)
            names[record.id] = name
            rows[name] = record.id
        } else {
            try writer.updateRecord(record)
        }
    }

    private mutating func changeDocument(_ writer: any StorageWriter) throws {
        let (collection, name) = ("c\(number(2))", "d\(number(4))")
        guard chance(3) else {
            let body = Data("\(number(1000))".utf8)
            try writer.putDocument(collection, StoredDocument(name: name, body: body))
            return
        }
        try writer.removeDocument(collection, name)
    }

    private mutating func changeRest(_ row: StoredRecord?, _ writer: any StorageWriter) throws {
        switch number(5) {
        case 0:
            var changed = try writer.zone(zone)
            changed?.headSequence = sequence
            changed?.bytes += 1
            if let changed { try writer.updateZone(changed) }
        case 1: try writer.setHeadSequence(database.id, Int64(number(1000)))
        case 2:
            let slot = chance(2) ? nil : "s\(number(2))"
            try writer.addPush(
                StoredPush(id: RowID(rawValue: 0), queue: Data([1]), slot: slot, body: key())
            )
        case 3:
            guard let row else { return }
            sequence += 1
            let sighting = StoredSighting(record: row.id, sequence: sequence)
            try writer.putSightings([sighting], of: RowID(rawValue: 1), in: zone)
        default:
            guard chance(6) else { return }
            try writer.removeContents(of: zone)
            rows = [:]
        }
    }

    // MARK: Reads

    private mutating func announce(_ writer: any StorageWriter) throws {
        var needs = StorageNeeds(
            in: DatabaseKey(environment: database.environment, owner: database.owner)
        )
        let (first, second, link) = (name(), name(), reference())
        let known = rows.sorted { $0.key < $1.key }.suffix(3).map(\.value)
        let (feed, scan) = (Int64(number(20)), StorageNeeds.Scan(scan()))
        let change: (inout StorageNeeds.Contents) -> Void = { contents in
            contents.records = [first, second]
            contents.rows = known
            contents.heads = known
            contents.hasShares = true
            contents.references = [.init(to: link.target, in: link.circle)]
            contents.referenceCounts = [.init(to: first, in: link.circle)]
            contents.feeds = [.init(from: feed, isReverse: false, limit: 5)]
            contents.scans = [scan]
            contents.counts = [scan]
        }
        if chance(2) { needs.zone("Notes", change) } else { needs.zone(zone, change) }
        needs.collections = ["c\(number(2))"]
        needs.documents = [DocumentKey("c\(number(2))", "d\(number(4))")]
        needs.listsZones = chance(2)
        try writer.prepare { _ in needs }
    }

    private mutating func look(_ reader: any StorageReader) throws -> String {
        switch number(15) {
        case 0: return "name \(try reader.record(zone, name: name()).map(text) ?? "-")"
        case 1:
            let row = rows[name()]
            return "row \(try row.flatMap { try reader.record($0, in: zone) }.map(text) ?? "-")"
        case 2:
            let row = rows[name()]
            let head = try row.flatMap { try reader.head(of: $0, in: zone) }
            return "head \(head.map { text($0.record) } ?? "-") \(head?.fieldBytes ?? 0)"
        case 3:
            let (after, limit) = (Int64(number(20)), 1 + number(5))
            return "after \(try reader.changedRecords(zone, after: after, limit: limit).map(text))"
        case 4:
            let (before, limit) = (Int64(number(40)), 1 + number(5))
            return
                "before \(try reader.changedRecords(zone, before: before, limit: limit).map(text))"
        case 5: return "count \(try reader.changeCount(zone, after: Int64(number(20))))"
        case 6: return "shares \(try reader.shares(zone))"
        case 7: return "children \(try reader.children(zone, of: name(), limit: 9).map(text))"
        case 8:
            let (target, circle) = reference()
            let found = try reader.references(zone, to: target, in: circle)
            return "references \(found.map { "\(names[$0.source] ?? "?") \($0.kind)" })"
        case 9:
            let (target, circle) = reference()
            let kind: StoredReference.Kind = [.deleteSelf, .validate, .parent][number(3)]
            return "links \(try reader.referenceCount(zone, to: target, kind, in: circle))"
        case 10:
            let entries = try reader.entries(scan())
            return "entries \(entries.map { "\(Array($0.key)) \(names[$0.record] ?? "?")" })"
        case 11: return "entryCount \(try reader.entryCount(scan()))"
        case 12:
            let documents = try reader.documents("c\(number(2))")
            let document = try reader.document("c\(number(2))", "d\(number(4))")
            return "documents \(documents.map { "\($0.name) \(Array($0.body))" }) "
                + "\(document.map { Array($0) } ?? [])"
        case 13:
            let pushes = try reader.pushes(Data([1]), limit: 9).map { Array($0.body) }
            return "pushes \(pushes) asset \(try reader.holdsAsset(key()))"
        default:
            let row = try reader.zone(database.id, name: "Notes")
            let seen = try reader.sightings(zone, of: RowID(rawValue: 1), after: 0, limit: 9)
            let head = try reader.database(database.id)?.headSequence
            return "zone \(row?.headSequence ?? 0) \(row?.bytes ?? 0) \(head ?? 0) "
                + "\(seen.map { "\(names[$0.record] ?? "?") \($0.sequence)" })"
        }
    }

    private func text(_ record: StoredRecord) -> String {
        "\(record.name) \(record.sequence) \(record.parent ?? "-") \(record.share ?? "-") "
            + "\(record.isDeleted) \(String(decoding: record.fields, as: UTF8.self))"
    }
}

/// Numbers that follow from a seed.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
#endif
