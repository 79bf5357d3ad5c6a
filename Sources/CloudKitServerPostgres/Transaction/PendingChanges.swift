#if PostgreSQL
import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The changes of a transaction that the server does not have yet.
///
/// The rows of records are kept by table, where the last change of a row is the one that counts, and
/// go to the server as a few statements with arrays. All other statements stay in order.
struct PendingChanges {
    private var statements: [Statement] = []
    private var zones: [RowID<StoredZone>: StoredZone] = [:]
    private var heads: [RowID<StoredDatabase>: Int64] = [:]
    private var contents: [Int64: ContentChanges] = [:]
    /// About how many bytes the changes have.
    private(set) var bytes = 0

    var isEmpty: Bool {
        statements.isEmpty && zones.isEmpty && heads.isEmpty && contents.isEmpty
    }

    /// Adds a statement behind all changes so far.
    mutating func add(_ sql: String, _ parameters: [Parameter]) {
        close()
        statements.append(Statement(sql: sql, parameters: parameters))
    }

    /// Adds a statement about rows that no other kind of change concerns.
    mutating func addApart(_ sql: String, _ parameters: [Parameter]) {
        statements.append(Statement(sql: sql, parameters: parameters))
    }

    mutating func update(_ zone: StoredZone) { zones[zone.id] = zone }

    mutating func setHead(_ database: RowID<StoredDatabase>, _ sequence: Int64) {
        heads[database] = sequence
    }

    /// Changes rows of a database's zones.
    mutating func change(
        _ database: Int64,
        bytes count: Int = 64,
        _ body: (inout ContentChanges) -> Void
    ) {
        bytes += count
        body(&contents[database, default: ContentChanges()])
    }

    /// Takes all statements, which leaves none.
    mutating func take() -> [Statement] {
        close()
        defer { self = Self() }
        return statements
    }

    private mutating func close() {
        if !heads.isEmpty {
            let databases = heads.sorted { $0.key < $1.key }
            statements.append(
                Statement(
                    sql: Self.setHeads,
                    parameters: [
                        .ints(databases.map(\.key.rawValue)), .ints(databases.map(\.value)),
                    ]
                )
            )
        }
        if !zones.isEmpty {
            let rows = zones.values.sorted { $0.id < $1.id }
            statements.append(Statement(sql: Self.updateZones, parameters: Self.columns(of: rows)))
        }
        statements += ContentChanges.statements(
            of: contents.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        )
        (heads, zones, contents) = ([:], [:], [:])
    }

    private static let setHeads = """
        UPDATE database SET head_sequence = ($2::bigint[])[array_position($1::bigint[], id)]
        WHERE id = ANY($1)
        """

    // The rows are there. A join with them could become a read of all zones.
    private static let updateZones = """
        INSERT INTO zone (\(PostgresTables.zoneColumns))
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[],
            $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[])
        ON CONFLICT (database, id) DO UPDATE SET name = excluded.name,
            incarnation = excluded.incarnation, head_sequence = excluded.head_sequence,
            change_sequence = excluded.change_sequence, is_deleted = excluded.is_deleted,
            birth_sequence = excluded.birth_sequence, bytes = excluded.bytes,
            horizon_sequence = excluded.horizon_sequence,
            deletion_reason = excluded.deletion_reason
        """

    private static func columns(of zones: [StoredZone]) -> [Parameter] {
        [
            .ints(zones.map(\.database.rawValue)), .ints(zones.map(\.id.rawValue)),
            .texts(zones.map(\.name)), .ints(zones.map(\.incarnation)),
            .ints(zones.map(\.headSequence)), .ints(zones.map(\.changeSequence)),
            .bools(zones.map(\.isDeleted)), .ints(zones.map(\.birthSequence)),
            .ints(zones.map(\.bytes)), .ints(zones.map(\.horizonSequence)),
            .texts(zones.map { $0.deletionReason?.rawValue }),
        ]
    }

    /// Returns the values of a zone's row, in the order of its columns.
    static func values(of zone: StoredZone) -> [Parameter] {
        [
            .int(zone.database.rawValue), .int(zone.id.rawValue), .text(zone.name),
            .int(zone.incarnation), .int(zone.headSequence), .int(zone.changeSequence),
            .bool(zone.isDeleted), .int(zone.birthSequence), .int(zone.bytes),
            .int(zone.horizonSequence), .text(zone.deletionReason?.rawValue),
        ]
    }
}
#endif
