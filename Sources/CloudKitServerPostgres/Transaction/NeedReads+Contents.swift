#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The rows of zones.
extension NeedReads {
    /// Adds the reads of a zone's rows.
    mutating func add(_ contents: StorageNeeds.Contents, of place: Place) {
        add(records: contents.records, of: place)
        add(rows: contents.rows, of: place)
        add(heads: contents.heads, of: place)
        if contents.hasShares, place.zone.map({ transaction.cache.shares[$0] == nil }) ?? true {
            addShares(of: place)
        }
        addReferences(contents.references, of: place, withParents: true)
        addReferences(contents.referenceCounts, of: place, withParents: false)
        for feed in contents.feeds { add(feed, of: place) }
        for scan in contents.scans { add(scan, of: place) }
        for scan in contents.counts { add(count: scan, of: place) }
        for beginning in contents.collections { add(collection: beginning, of: place) }
    }

    /// Adds the read of a collection whose name ends with the number of a zone.
    private mutating func add(collection beginning: String, of place: Place) {
        if let zone = place.zone { return add(collections: [beginning + String(zone.rawValue)]) }
        named.add(collection: beginning, of: place)
    }

    /// Returns the zone of a place whose name was looked up before; nil if there is none.
    static func zone(
        of place: Place,
        _ transaction: PostgresTransaction
    ) -> RowID<StoredZone>? {
        if let zone = place.zone { return zone }
        let name = RowCache.ZoneName(database: place.database, name: place.name)
        return (transaction.cache.zones[name] ?? nil)?.id
    }

    /// Returns a query that finds a row for each of some keys.
    ///
    /// A plan is made once for users with few rows and with many, and from few rows or none: it could
    /// well be to read all rows of a zone. Only one index has this order, so that each key is looked up.
    ///
    /// - Parameters:
    ///   - keys: The keys, as a value of the statement.
    ///   - column: The column that has them.
    ///   - select: The query of the rows with any key.
    /// - Returns: The query, whose rows are called `found`.
    private static func each(_ keys: String, _ column: String, _ select: String) -> String {
        """
        SELECT found.* FROM unnest(\(keys)) AS key CROSS JOIN LATERAL (
            \(select) AND \(column) >= key AND \(column) <= key ORDER BY \(column) LIMIT 1
        ) AS found
        """
    }

    // MARK: Records

    private mutating func add(records names: [String], of place: Place) {
        let missing = names.filter { name in
            guard let zone = place.zone else { return true }
            return transaction.cache.records[RowCache.RecordName(zone: zone, name: name)] == nil
        }
        guard !missing.isEmpty else { return }
        if place.zone == nil, missing.count <= NamedReads.fewRecords {
            return named.add(records: missing, of: place)
        }
        append(
            Statement(
                sql: Self.each(
                    "$3::bytea[]",
                    "name",
                    PostgresTransaction.selectRecord + " WHERE \(place.condition())"
                ),
                parameters: place.parameters + [.texts(missing)]
            ) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                for name in missing {
                    transaction.cache.records[RowCache.RecordName(zone: zone, name: name)] =
                        .some(nil)
                }
                for row in rows { transaction.cache.store(PostgresTransaction.record(row)) }
            }
        )
    }

    private mutating func add(rows ids: [RowID<StoredRecord>], of place: Place) {
        guard let zone = place.zone else { return }
        let missing = ids.filter {
            transaction.cache.recordRows[RowCache.RecordRow(zone: zone, id: $0)] == nil
        }
        guard !missing.isEmpty else { return }
        append(
            Statement(
                sql: Self.each(
                    "$3::bigint[]",
                    "id",
                    PostgresTransaction.selectRecord + " WHERE database = $1"
                ) + " WHERE found.zone = $2",
                parameters: place.parameters + [.ints(missing.map(\.rawValue))]
            ) { [transaction] rows in
                for id in missing {
                    transaction.cache.recordRows[RowCache.RecordRow(zone: zone, id: id)] =
                        .some(nil)
                }
                for row in rows { transaction.cache.store(PostgresTransaction.record(row)) }
            }
        )
    }

    private mutating func add(heads ids: [RowID<StoredRecord>], of place: Place) {
        guard let zone = place.zone else { return }
        let missing = ids.filter {
            let row = RowCache.RecordRow(zone: zone, id: $0)
            return transaction.cache.recordRows[row] == nil && transaction.cache.heads[row] == nil
        }
        guard !missing.isEmpty else { return }
        append(
            Statement(
                sql: Self.each(
                    "$3::bigint[]",
                    "id",
                    """
                    SELECT zone, id, name, type, sequence, created_at, created_by, modified_at,
                        modified_by, is_deleted, parent, share, has_assets, ''::bytea, NULL::bytea,
                        NULL::bigint, length(fields)
                    FROM record WHERE database = $1
                    """
                ) + " WHERE found.zone = $2",
                parameters: place.parameters + [.ints(missing.map(\.rawValue))]
            ) { [transaction] rows in
                for id in missing {
                    transaction.cache.heads[RowCache.RecordRow(zone: zone, id: id)] = .some(nil)
                }
                for row in rows {
                    let record = PostgresTransaction.record(row)
                    transaction.cache.heads[RowCache.RecordRow(zone: zone, id: record.id)] =
                        StoredRecordHead(record, fieldBytes: Int(row.int(16)))
                }
            }
        )
    }

    private mutating func addShares(of place: Place) {
        guard place.zone != nil else { return named.add(sharesOf: place) }
        append(
            Statement(
                sql: """
                    SELECT DISTINCT share FROM record
                    WHERE \(place.condition()) AND share IS NOT NULL AND NOT is_deleted
                    ORDER BY share
                    """,
                parameters: place.parameters
            ) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                transaction.cache.shares[zone] = rows.map { $0.text(0) }
            }
        )
    }

    // MARK: References

    private mutating func addReferences(
        _ keys: [StorageNeeds.ReferenceKey],
        of place: Place,
        withParents: Bool
    ) {
        var targets: [ByteText: Set<ByteText>] = [:]
        for key in keys {
            if let zone = place.zone {
                let known = RowCache.ReferenceKey(zone: zone, key: key)
                if transaction.cache.references[known] != nil { continue }
                if !withParents, transaction.cache.owningReferences[known] != nil { continue }
            }
            targets[ByteText(key.circle), default: []].insert(ByteText(key.target))
        }
        for (circle, targets) in targets {
            addReferences(to: targets, in: circle.text, of: place, withParents: withParents)
        }
    }

    private mutating func addReferences(
        to targets: Set<ByteText>,
        in circle: String,
        of place: Place,
        withParents: Bool
    ) {
        // OFFSET keeps the targets apart: of few references PostgreSQL would read the whole zone's.
        append(
            Statement(
                sql: """
                    SELECT found.* FROM unnest($3::bytea[]) AS asked (name), LATERAL (
                        SELECT target, source, kind FROM reference
                        WHERE \(place.condition()) AND target = asked.name AND circle = $4
                            \(withParents ? "" : "AND kind <> \(StoredReference.Kind.parent.rawValue)")
                        OFFSET 0
                    ) AS found
                    """,
                parameters: place.parameters + [.texts(targets.map(\.text)), .text(circle)]
            ) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                var found: [ByteText: [StoredReference]] = [:]
                for target in targets { found[target] = [] }
                for row in rows {
                    guard let kind = StoredReference.Kind(rawValue: row.int(2)) else {
                        throw StorageError(.corrupt, "A reference is of an unknown kind")
                    }
                    found[ByteText(row.text(0)), default: []].append(
                        StoredReference(
                            source: RowID(rawValue: row.int(1)),
                            target: row.text(0),
                            kind: kind,
                            circle: circle
                        )
                    )
                }
                for (target, unordered) in found {
                    let list = unordered.sorted {
                        ($0.source.rawValue, $0.kind.rawValue)
                            < ($1.source.rawValue, $1.kind.rawValue)
                    }
                    let key = RowCache.ReferenceKey(
                        zone: zone,
                        key: StorageNeeds.ReferenceKey(to: target.text, in: circle)
                    )
                    if withParents {
                        transaction.cache.references[key] = list
                    } else {
                        transaction.cache.owningReferences[key] = list
                    }
                }
            }
        )
    }

    // MARK: Feeds and scans

    private mutating func add(_ feed: StorageNeeds.Feed, of place: Place) {
        if let zone = place.zone,
            transaction.cache.feeds[RowCache.Feed(zone: zone, page: feed)] != nil
        {
            return
        }
        let order =
            feed.isReverse
            ? "sequence < $3 ORDER BY sequence DESC" : "sequence > $3 ORDER BY sequence"
        append(
            Statement(
                sql: PostgresTransaction.selectRecord
                    + " WHERE \(place.condition()) AND \(order) LIMIT $4",
                parameters: place.parameters + [.int(feed.sequence), .int(Int64(feed.limit))]
            ) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                let records = rows.map(PostgresTransaction.record)
                // By their number a check, which reads whole zones, knows when to forget what it read.
                for record in records { transaction.cache.store(record) }
                transaction.cache.feeds[RowCache.Feed(zone: zone, page: feed)] = records
            }
        )
    }

    private mutating func add(_ scan: StorageNeeds.Scan, of place: Place) {
        let scan = scan.scan(in: place.zone ?? RowID(rawValue: 0))
        if place.zone != nil, transaction.cache.scans[scan] != nil { return }
        let (entries, parameters) = Self.entries(scan, of: place)
        let direction = scan.isDescending ? "DESC" : "ASC"
        append(
            Statement(
                sql: """
                    SELECT found.*, entry.key, entry.record FROM (\(entries)) AS entry
                    LEFT JOIN LATERAL (
                        \(PostgresTransaction.selectRecord)
                        WHERE database = $1 AND id >= entry.record AND id <= entry.record
                        ORDER BY id LIMIT 1
                    ) AS found ON true
                    ORDER BY entry.key \(direction), entry.record \(direction)
                    """,
                parameters: parameters
            ) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                var found: [IndexEntry] = []
                for row in rows {
                    let id = RowID<StoredRecord>(rawValue: row.int(17))
                    found.append(IndexEntry(index: scan.index, key: row.bytes(16), record: id))
                    guard !row.isNull(0) else { continue }
                    let record = PostgresTransaction.record(row)
                    if record.zone == zone { transaction.cache.store(record) }
                }
                var place = scan
                place.zone = zone
                transaction.cache.scans[place] = found
            }
        )
    }

    private mutating func add(count scan: StorageNeeds.Scan, of place: Place) {
        let scan = scan.scan(in: place.zone ?? RowID(rawValue: 0))
        if place.zone != nil, transaction.cache.counts[scan] != nil { return }
        let (sql, parameters) = Self.count(scan, of: place)
        append(
            Statement(sql: sql, parameters: parameters) { [transaction] rows in
                guard let zone = Self.zone(of: place, transaction) else { return }
                var place = scan
                place.zone = zone
                for row in rows { transaction.cache.counts[place] = Int(row.int(0)) }
            }
        )
    }

    /// Returns the query of a scan's entries.
    static func entries(_ scan: IndexScan, of place: Place) -> (String, [Parameter]) {
        let direction = scan.isDescending ? "DESC" : "ASC"
        let (condition, parameters) = condition(scan, of: place)
        return (
            """
            SELECT key, record FROM index_entry WHERE \(condition)
            ORDER BY key \(direction), record \(direction) LIMIT $4
            """,
            parameters
        )
    }

    /// Returns the query of the number of a scan's entries, which counts no more than its limit.
    static func count(_ scan: IndexScan, of place: Place) -> (String, [Parameter]) {
        let (condition, parameters) = condition(scan, of: place)
        return (
            """
            SELECT count(*) FROM (
                SELECT 1 FROM index_entry WHERE \(condition) LIMIT $4
            ) AS entry
            """,
            parameters
        )
    }

    private static func condition(
        _ scan: IndexScan,
        of place: Place
    ) -> (String, [Parameter]) {
        var condition = "\(place.condition()) AND number = $3"
        var parameters = place.parameters + [.int(scan.index), .int(Int64(scan.limit))]
        func next(_ parameter: Parameter) -> String {
            parameters.append(parameter)
            return "$\(parameters.count)"
        }
        if !scan.lowerBound.isEmpty { condition += " AND key >= \(next(.bytes(scan.lowerBound)))" }
        if let upperBound = scan.upperBound {
            condition += " AND key < \(next(.bytes(upperBound)))"
        }
        if let after = scan.after {
            // As a pair, so that none of the records with the same key is passed over.
            let pair = "(\(next(.bytes(after.key))), \(next(.int(after.record.rawValue))))"
            condition += " AND (key, record) \(scan.isDescending ? "<" : ">") \(pair)"
        }
        return (condition, parameters)
    }
}
#endif
