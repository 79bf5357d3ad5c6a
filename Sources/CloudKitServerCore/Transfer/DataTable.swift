/// A table in the form that is the same for all engines.
///
/// A row of a copy keeps all its numbers, because change tokens, cursors and references name rows by
/// them. Text is its bytes in UTF-8, so that the rows of all engines sort alike.
package struct DataTable: Hashable, Sendable {
    /// The kind of a column's values.
    package enum Kind: Hashable, Sendable {
        case integer, flag, text, bytes
    }

    /// A column.
    package struct Column: Hashable, Sendable {
        /// The name, in lower case with underscores.
        package let name: String
        /// The kind of its values.
        package let kind: Kind
    }

    /// The name, in lower case with underscores.
    package let name: String
    /// The columns.
    package let columns: [Column]
    /// The places of the columns by which the rows are in order; no two rows have the same values there.
    package let order: [Int]
    /// The table of whose rows this one has those of snapshots; nil for other tables.
    package let original: String?

    /// The kinds of the columns by which the rows are in order.
    package var orderKinds: [Kind] { order.map { columns[$0].kind } }

    /// Returns the values by which a row is in order.
    package func key(of row: [DataValue]) -> [DataValue] { order.map { row[$0] } }

    private init(_ name: String, by order: [String], _ columns: KeyValuePairs<String, Kind>) {
        self.init(name, by: order, columns.map { Column(name: $0, kind: $1) }, original: nil)
    }

    private init(_ name: String, by order: [String], _ columns: [Column], original: String?) {
        self.name = name
        self.columns = columns
        self.order = order.compactMap { name in columns.firstIndex { $0.name == name } }
        self.original = original
    }

    /// The table with the rows of this one that snapshots have.
    private var kept: DataTable {
        DataTable(
            "kept_" + name,
            by: ["snapshot"] + order.map { columns[$0].name },
            [Column(name: "snapshot", kind: .integer)] + columns,
            original: name
        )
    }

    /// All tables, in the order in which they are copied: a snapshot before its rows, which come after
    /// those of now.
    package static let all =
        live + [snapshot] + live.filter { isKept.contains($0.name) }.map(\.kept)

    /// The tables of which snapshots have rows.
    private static let isKept: Set = [
        "environment", "database", "zone", "record", "index_entry", "reference", "asset",
        "document",
    ]

    private static let snapshot = DataTable(
        "snapshot",
        by: ["id"],
        ["id": .integer, "container": .text, "name": .text, "created": .integer]
    )

    private static let live = [
        DataTable("setting", by: ["name"], ["name": .text, "value": .bytes]),
        DataTable(
            "environment",
            by: ["id"],
            [
                "id": .integer, "container": .text, "kind": .text, "schema_version": .integer,
                "schema": .bytes,
            ]
        ),
        DataTable(
            "account",
            by: ["id"],
            [
                "id": .integer, "container": .text, "record_name": .text, "given_name": .text,
                "family_name": .text, "email_address": .text,
            ]
        ),
        DataTable(
            "credential",
            by: ["kind", "hash"],
            [
                "kind": .integer, "hash": .bytes, "environment": .integer, "account": .integer,
                "companion": .bytes, "expires": .integer,
            ]
        ),
        DataTable(
            "document",
            by: ["collection", "name"],
            ["collection": .text, "name": .text, "body": .bytes]
        ),
        DataTable(
            "push",
            by: ["id"],
            ["id": .integer, "queue": .bytes, "slot": .text, "body": .bytes]
        ),
        DataTable(
            "database",
            by: ["id"],
            [
                "id": .integer, "environment": .integer, "owner": .integer,
                "incarnation": .integer, "head_sequence": .integer,
            ]
        ),
        DataTable(
            "zone",
            by: ["database", "id"],
            [
                "database": .integer, "id": .integer, "name": .text, "incarnation": .integer,
                "head_sequence": .integer, "change_sequence": .integer, "is_deleted": .flag,
                "birth_sequence": .integer, "bytes": .integer, "horizon_sequence": .integer,
                "deletion_reason": .text,
            ]
        ),
        DataTable(
            "record",
            by: ["database", "zone", "sequence"],
            [
                "database": .integer, "zone": .integer, "sequence": .integer, "id": .integer,
                "name": .text, "type": .text, "created_at": .integer, "created_by": .text,
                "modified_at": .integer, "modified_by": .text, "is_deleted": .flag,
                "parent": .text, "share": .text, "has_assets": .flag, "fields": .bytes,
                "extra": .bytes, "checksum": .integer,
            ]
        ),
        DataTable(
            "index_entry",
            by: ["database", "zone", "number", "key", "record"],
            [
                "database": .integer, "zone": .integer, "number": .integer, "key": .bytes,
                "record": .integer,
            ]
        ),
        DataTable(
            "reference",
            by: ["database", "zone", "target", "circle", "source", "kind"],
            [
                "database": .integer, "zone": .integer, "target": .text, "circle": .text,
                "source": .integer, "kind": .integer,
            ]
        ),
        DataTable(
            "asset",
            by: ["database", "record", "checksum"],
            ["database": .integer, "record": .integer, "checksum": .bytes]
        ),
        DataTable(
            "sighting",
            by: ["database", "zone", "viewer", "sequence"],
            [
                "database": .integer, "zone": .integer, "viewer": .integer, "sequence": .integer,
                "record": .integer,
            ]
        ),
    ]
}
