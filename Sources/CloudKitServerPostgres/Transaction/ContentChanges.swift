#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The changes of the rows of one database's zones, by table.
struct ContentChanges {
    private struct EntryKey: Hashable {
        var zone: RowID<StoredZone>
        var entry: IndexEntry
    }

    private struct ReferenceRow: Hashable {
        var zone: RowID<StoredZone>
        var source: RowID<StoredRecord>
        var kind: StoredReference.Kind
        var target: ByteText
        var circle: ByteText
    }

    private struct SightingKey: Hashable {
        var record: RowID<StoredRecord>
        var viewer: RowID<StoredUser>
    }

    private struct SightingRow {
        var zone: RowID<StoredZone>
        var sequence: Int64
    }

    /// The rows in the order in which they were added or first changed.
    private struct Records {
        var rows: [StoredRecord] = []
        var places: [RowID<StoredRecord>: Int] = [:]

        mutating func put(_ record: StoredRecord) {
            if let place = places[record.id] {
                rows[place] = record
            } else {
                places[record.id] = rows.count
                rows.append(record)
            }
        }

        mutating func remove(_ id: RowID<StoredRecord>) -> Bool {
            guard let place = places.removeValue(forKey: id) else { return false }
            rows.remove(at: place)
            for (other, position) in places where position > place { places[other] = position - 1 }
            return true
        }
    }

    private var added = Records()
    private var updated = Records()
    private var removed: [RowID<StoredRecord>] = []
    /// `true` for entries to add, `false` for those to remove.
    private var entries: [EntryKey: Bool] = [:]
    private var cleared: Set<RowID<StoredRecord>> = []
    private var references: Set<ReferenceRow> = []
    private var assets: [RowID<StoredRecord>: [Data]] = [:]
    private var sightings: [SightingKey: SightingRow] = [:]

    // MARK: Changes

    mutating func add(_ record: StoredRecord) { added.put(record) }

    mutating func update(_ record: StoredRecord) {
        if added.places[record.id] != nil { added.put(record) } else { updated.put(record) }
    }

    mutating func remove(_ id: RowID<StoredRecord>) {
        sightings = sightings.filter { $0.key.record != id }
        _ = updated.remove(id)
        if !added.remove(id) { removed.append(id) }
    }

    mutating func setEntry(
        _ entry: IndexEntry,
        in zone: RowID<StoredZone>,
        isThere: Bool
    ) {
        entries[EntryKey(zone: zone, entry: entry)] = isThere
    }

    mutating func add(_ reference: StoredReference, in zone: RowID<StoredZone>) {
        references.insert(
            ReferenceRow(
                zone: zone,
                source: reference.source,
                kind: reference.kind,
                target: ByteText(reference.target),
                circle: ByteText(reference.circle)
            )
        )
    }

    mutating func removeReferences(from source: RowID<StoredRecord>) {
        cleared.insert(source)
        if !references.isEmpty {
            references = references.filter { $0.source != source }
        }
    }

    mutating func setAssets(_ checksums: [Data], of record: RowID<StoredRecord>) {
        assets[record] = checksums
    }

    mutating func put(
        _ sighting: StoredSighting,
        of viewer: RowID<StoredUser>,
        in zone: RowID<StoredZone>
    ) {
        sightings[SightingKey(record: sighting.record, viewer: viewer)] = SightingRow(
            zone: zone,
            sequence: sighting.sequence
        )
    }

    // MARK: Statements

    /// Returns the statements that make changes by database: removals before additions, which may have the
    /// same keys.
    ///
    /// The tables find the place of a new row by its database, so that the rows of a group of requests
    /// share two statements, whoever they belong to.
    static func statements(of changes: [(database: Int64, changes: Self)]) -> [Statement] {
        var statements = changes.flatMap { $0.changes.statements(in: $0.database) }
        func add<Row>(
            _ sql: String,
            _ rows: (Self) -> [Row],
            _ columns: ([Row]) -> [Parameter]
        ) {
            let found = changes.map { ($0.database, rows($0.changes)) }
            let all = found.flatMap(\.1)
            guard !all.isEmpty else { return }
            let databases = found.flatMap { Array(repeating: $0.0, count: $0.1.count) }
            statements.append(Statement(sql: sql, parameters: [.ints(databases)] + columns(all)))
        }
        add(addRecords, { $0.added.rows }, columns(of:))
        // An entry that may be there already takes twice as long to add.
        add(addNewEntries, { $0.newEntries(areOfNewRecords: true) }, columns(of:))
        add(addEntries, { $0.newEntries(areOfNewRecords: false) }, columns(of:))
        return statements
    }

    /// Returns the statements that make the changes in a database, except new records and entries.
    private func statements(in database: Int64) -> [Statement] {
        var statements: [Statement] = []
        let key = Parameter.int(database)
        func add(_ sql: String, _ parameters: [Parameter]) {
            statements.append(Statement(sql: sql, parameters: [key] + parameters))
        }
        if !removed.isEmpty {
            let rows = Parameter.ints(removed.map(\.rawValue))
            add("SELECT remove_rows($1, $2)", [rows])
        }
        if !updated.rows.isEmpty { add(Self.updateRecords, Self.columns(of: updated.rows)) }
        let old = entries.filter { !$0.value }.map(\.key)
        if !old.isEmpty { add(Self.removeEntries, Self.columns(of: old)) }
        addReferences(add)
        addAssets(add)
        if !sightings.isEmpty { add(Self.putSightings, sightingColumns) }
        return statements
    }

    /// Returns the entries to add, in about the order of the table's index, which makes that a third faster.
    private func newEntries(areOfNewRecords: Bool) -> [EntryKey] {
        entries.filter {
            $0.value && (added.places[$0.key.entry.record] != nil) == areOfNewRecords
        }
        .map(\.key)
        .sorted { ($0.entry.index, $0.entry.record) < ($1.entry.index, $1.entry.record) }
    }

    private static func columns(of rows: [EntryKey]) -> [Parameter] {
        [
            .ints(rows.map(\.zone.rawValue)), .ints(rows.map(\.entry.index)),
            .manyBytes(rows.map(\.entry.key)), .ints(rows.map(\.entry.record.rawValue)),
        ]
    }

    private func addReferences(_ add: (String, [Parameter]) -> Void) {
        if !cleared.isEmpty {
            add("SELECT remove_references($1, $2)", [.ints(cleared.map(\.rawValue))])
        }
        guard !references.isEmpty else { return }
        let rows = Array(references)
        add(
            """
            INSERT INTO reference (database, zone, target, circle, kind, source)
            SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bigint[],
                $6::bigint[])
            ON CONFLICT DO NOTHING
            """,
            [
                .ints(rows.map(\.zone.rawValue)), .texts(rows.map(\.target.text)),
                .texts(rows.map(\.circle.text)), .ints(rows.map(\.kind.rawValue)),
                .ints(rows.map(\.source.rawValue)),
            ]
        )
    }

    private func addAssets(_ add: (String, [Parameter]) -> Void) {
        guard !assets.isEmpty else { return }
        add("SELECT remove_assets($1, $2)", [.ints(assets.keys.map(\.rawValue))])
        let rows = assets.flatMap { record, checksums in checksums.map { (record, $0) } }
        guard !rows.isEmpty else { return }
        add(
            """
            INSERT INTO asset (database, record, checksum)
            SELECT $1, * FROM unnest($2::bigint[], $3::bytea[]) ON CONFLICT DO NOTHING
            """,
            [.ints(rows.map(\.0.rawValue)), .manyBytes(rows.map(\.1))]
        )
    }

    private var sightingColumns: [Parameter] {
        let rows = Array(sightings)
        return [
            .ints(rows.map(\.value.zone.rawValue)), .ints(rows.map(\.key.viewer.rawValue)),
            .ints(rows.map(\.value.sequence)), .ints(rows.map(\.key.record.rawValue)),
        ]
    }

    private static func columns(of records: [StoredRecord]) -> [Parameter] {
        [
            .ints(records.map(\.id.rawValue)), .ints(records.map(\.zone.rawValue)),
            .texts(records.map(\.name)), .texts(records.map(\.type)),
            .ints(records.map(\.sequence)), .ints(records.map(\.created.milliseconds)),
            .texts(records.map(\.created.user)), .ints(records.map(\.modified.milliseconds)),
            .texts(records.map(\.modified.user)), .bools(records.map(\.isDeleted)),
            .texts(records.map(\.parent)), .texts(records.map(\.share)),
            .bools(records.map(\.hasAssets)), .manyBytes(records.map(\.fields)),
            .manyBytes(records.map(\.extra)), .ints(records.map(\.checksum)),
        ]
    }

    private static let recordArrays = """
        $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[],
            $8::bytea[], $9::bigint[], $10::bytea[], $11::boolean[], $12::bytea[], $13::bytea[],
            $14::boolean[], $15::bytea[], $16::bytea[], $17::bigint[]
        """

    private static let addRecords = """
        INSERT INTO record (database, \(PostgresTables.recordColumns))
        SELECT * FROM unnest($1::bigint[], \(recordArrays))
        """

    // The rows are there. A join with them could become a read of all rows of the database.
    private static let updateRecords = """
        INSERT INTO record (database, \(PostgresTables.recordColumns))
        SELECT $1, * FROM unnest(\(recordArrays))
        ON CONFLICT (database, id) DO UPDATE SET name = excluded.name, type = excluded.type,
            sequence = excluded.sequence, created_at = excluded.created_at,
            created_by = excluded.created_by, modified_at = excluded.modified_at,
            modified_by = excluded.modified_by, is_deleted = excluded.is_deleted,
            parent = excluded.parent, share = excluded.share, has_assets = excluded.has_assets,
            fields = excluded.fields, extra = excluded.extra, checksum = excluded.checksum
        """

    private static let entryArrays = "$2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[]"

    private static let addNewEntries = """
        INSERT INTO index_entry (database, zone, number, key, record)
        SELECT * FROM unnest($1::bigint[], \(entryArrays))
        """

    private static let addEntries = addNewEntries + " ON CONFLICT DO NOTHING"

    private static let removeEntries = "SELECT remove_entries($1, $2, $3, $4, $5)"

    private static let putSightings = """
        INSERT INTO sighting (database, zone, viewer, sequence, record)
        SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
        ON CONFLICT (database, record, viewer)
        DO UPDATE SET zone = excluded.zone, sequence = excluded.sequence
        """
}
#endif
