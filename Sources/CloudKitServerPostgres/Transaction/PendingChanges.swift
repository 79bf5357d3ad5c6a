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
        for zone in zones.values.sorted(by: { $0.id < $1.id }) {
            statements.append(
                Statement(sql: Self.updateZone, parameters: Self.values(of: zone))
            )
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

    private static let updateZone = """
        UPDATE zone SET name = $3, incarnation = $4, head_sequence = $5, change_sequence = $6,
            is_deleted = $7, birth_sequence = $8, bytes = $9, horizon_sequence = $10,
            deletion_reason = $11
        WHERE database = $1 AND id = $2
        """

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
