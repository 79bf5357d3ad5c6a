#if PostgreSQL
import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A zone may have more rows than memory: they are read in pages, in the order of their keys.
extension PostgresTransaction: DerivedRows {
    private static let pageRows = 5000

    /// Calls a closure for all rows, of which another closure returns the next ones behind a row.
    private func forEach<Row>(
        _ page: (_ last: Row?) throws -> [Row],
        _ body: (Row) throws -> Void
    ) throws {
        var last: Row?
        repeat {
            let rows = try page(last)
            for row in rows { try body(row) }
            last = rows.count == Self.pageRows ? rows.last : nil
        } while last != nil
    }

    func forEachEntry(
        in zone: RowID<StoredZone>,
        _ body: (IndexEntry) throws -> Void
    ) throws {
        guard let home = try home(of: zone) else { return }
        let page = { (last: IndexEntry?) in
            try self.all(
                """
                SELECT number, key, record FROM index_entry
                WHERE database = $1 AND zone = $2 AND (number, key, record) > ($3, $4, $5)
                ORDER BY number, key, record LIMIT \(Self.pageRows)
                """,
                [
                    .int(home), .int(zone.rawValue), .int(last?.index ?? .min),
                    .bytes(last?.key ?? Data()), .int(last?.record.rawValue ?? .min),
                ]
            ) { row in
                IndexEntry(
                    index: row.int(0),
                    key: row.bytes(1),
                    record: RowID(rawValue: row.int(2))
                )
            }
        }
        try forEach(page, body)
    }

    func forEachReference(
        in zone: RowID<StoredZone>,
        _ body: (StoredReference) throws -> Void
    ) throws {
        guard let home = try home(of: zone) else { return }
        typealias Row = (target: Data, circle: Data, source: Int64, kind: Int64)
        let page = { (last: Row?) in
            try self.all(
                """
                SELECT target, circle, source, kind FROM reference
                WHERE database = $1 AND zone = $2
                    AND (target, circle, source, kind) > ($3, $4, $5, $6)
                ORDER BY target, circle, source, kind LIMIT \(Self.pageRows)
                """,
                [
                    .int(home), .int(zone.rawValue), .bytes(last?.target ?? Data()),
                    .bytes(last?.circle ?? Data()), .int(last?.source ?? .min),
                    .int(last?.kind ?? .min),
                ]
            ) { row -> Row in (row.bytes(0), row.bytes(1), row.int(2), row.int(3)) }
        }
        try forEach(page) { row in
            guard let kind = StoredReference.Kind(rawValue: row.kind) else { return }
            try body(
                StoredReference(
                    source: RowID(rawValue: row.source),
                    target: String(decoding: row.target, as: UTF8.self),
                    kind: kind,
                    circle: String(decoding: row.circle, as: UTF8.self)
                )
            )
        }
    }

    func forEachAsset(
        in zone: RowID<StoredZone>,
        _ body: (_ checksum: Data, _ record: RowID<StoredRecord>) throws -> Void
    ) throws {
        guard let home = try home(of: zone) else { return }
        typealias Row = (record: Int64, checksum: Data)
        let page = { (last: Row?) in
            try self.all(
                """
                SELECT asset.record, asset.checksum FROM asset
                JOIN record ON record.database = asset.database AND record.id = asset.record
                WHERE asset.database = $1 AND record.zone = $2
                    AND (asset.record, asset.checksum) > ($3, $4)
                ORDER BY asset.record, asset.checksum LIMIT \(Self.pageRows)
                """,
                [
                    .int(home), .int(zone.rawValue), .int(last?.record ?? .min),
                    .bytes(last?.checksum ?? Data()),
                ]
            ) { row -> Row in (row.int(0), row.bytes(1)) }
        }
        try forEach(page) { row in try body(row.checksum, RowID(rawValue: row.record)) }
    }

    private static let isLostAsset = """
        NOT EXISTS (
            SELECT 1 FROM record WHERE record.database = asset.database AND record.id = asset.record
        )
        """

    func ownersOfLostAssets() throws -> [RowID<StoredRecord>] {
        try all(
            "SELECT DISTINCT record FROM asset WHERE \(Self.isLostAsset) ORDER BY record",
            []
        ) { RowID(rawValue: $0.int(0)) }
    }

    func removeLostAssets() throws {
        try requireEverything()
        state.changes.add("DELETE FROM asset WHERE \(Self.isLostAsset)", [])
    }

    func heldAssets() throws -> [Data] {
        try all(
            "SELECT checksum FROM asset UNION SELECT checksum FROM kept_asset ORDER BY checksum",
            []
        ) { $0.bytes(0) }
    }

    func holders(of checksum: Data) throws -> [StoredRecord] {
        try all(
            Self.selectRecord + """
                 WHERE (database, id) IN (SELECT database, record FROM asset WHERE checksum = $1)
                ORDER BY id
                """,
            [.bytes(checksum)],
            Self.record
        )
    }

    /// Returns no problems, because PostgreSQL has no check of its own that any user may run.
    ///
    /// It notices damaged pages itself when they are read, by their checksums.
    func fileProblems() throws -> [FileProblem] { [] }

    func readableEnvironments() throws -> [StoredEnvironment] {
        try all(
            Self.selectEnvironment + " WHERE kind = ANY($1) ORDER BY container, kind",
            [.texts(ServiceEnvironment.allCases.map(\.rawValue))],
            Self.environment
        )
    }

    func forEachDocument(
        _ body: (_ collection: String, _ document: StoredDocument) throws -> Void
    ) throws {
        typealias Row = (collection: Data, name: Data, body: Data)
        let page = { (last: Row?) in
            try self.all(
                """
                SELECT collection, name, body FROM document WHERE (collection, name) > ($1, $2)
                ORDER BY collection, name LIMIT \(Self.pageRows)
                """,
                [.bytes(last?.collection ?? Data()), .bytes(last?.name ?? Data())]
            ) { row -> Row in (row.bytes(0), row.bytes(1), row.bytes(2)) }
        }
        try forEach(page) { row in
            try body(
                String(decoding: row.collection, as: UTF8.self),
                StoredDocument(name: String(decoding: row.name, as: UTF8.self), body: row.body)
            )
        }
    }
}
#endif
