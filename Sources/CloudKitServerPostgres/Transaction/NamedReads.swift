#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reads of zones that requests know by their names, as in nearly each request's first round trip.
///
/// Requests that share a transaction come from different users, and each kind of read is one statement for
/// all of them: most of a statement's cost does not depend on its rows.
struct NamedReads {
    /// The number of records of one request that are looked up with those of other requests.
    ///
    /// More have a statement of their own, which looks up their zone once.
    static let fewRecords = 4

    private var zones: [NeedReads.Place] = []
    private var records: [(place: NeedReads.Place, name: String)] = []
    private var shares: [NeedReads.Place] = []
    private var collections: [(place: NeedReads.Place, beginning: String)] = []
    private var asked: Set<AnyHashable> = []

    /// Adds the read of a zone.
    mutating func add(zone place: NeedReads.Place) {
        if isNew("zone", place, "") { zones.append(place) }
    }

    /// Adds the reads of a zone's records.
    mutating func add(records names: [String], of place: NeedReads.Place) {
        for name in names where isNew("record", place, name) { records.append((place, name)) }
    }

    /// Adds the read of the names of a zone's shares.
    mutating func add(sharesOf place: NeedReads.Place) {
        if isNew("shares", place, "") { shares.append(place) }
    }

    /// Adds the read of a collection whose name ends with the number of a zone.
    mutating func add(collection beginning: String, of place: NeedReads.Place) {
        if isNew("collection", place, beginning) { collections.append((place, beginning)) }
    }

    private mutating func isNew(_ kind: String, _ place: NeedReads.Place, _ name: String) -> Bool {
        let key: [AnyHashable] = [kind, place.database, ByteText(place.name), ByteText(name)]
        return asked.insert(key).inserted
    }

    // MARK: Statements

    /// Returns the statements, those of zones first.
    func statements(_ transaction: PostgresTransaction) -> [Statement] {
        var statements: [Statement] = []
        if !zones.isEmpty { statements.append(readZones(transaction)) }
        if !records.isEmpty { statements.append(readRecords(transaction)) }
        if !shares.isEmpty { statements.append(readShares(transaction)) }
        if !collections.isEmpty { statements.append(readCollections(transaction)) }
        return statements
    }

    /// The part of a statement that finds the zones of `asked`, as `place`.
    private static let place = """
        CROSS JOIN LATERAL (
            SELECT id FROM zone WHERE database = asked.home AND name = asked.called LIMIT 1
        ) AS place
        """

    private static func parameters(_ places: [NeedReads.Place]) -> [Parameter] {
        [.ints(places.map(\.database.rawValue)), .texts(places.map(\.name))]
    }

    private func readZones(_ transaction: PostgresTransaction) -> Statement {
        let places = zones
        return Statement(
            sql: """
                SELECT found.* FROM unnest($1::bigint[], $2::bytea[]) AS asked (home, called)
                CROSS JOIN LATERAL (
                    \(PostgresTransaction.selectZone)
                    WHERE database = asked.home AND name = asked.called LIMIT 1
                ) AS found
                """,
            parameters: Self.parameters(places)
        ) { rows in
            for place in places {
                let name = RowCache.ZoneName(database: place.database, name: place.name)
                transaction.cache.zones[name] = .some(nil)
            }
            for row in rows { transaction.cache.store(PostgresTransaction.zone(row)) }
        }
    }

    private func readRecords(_ transaction: PostgresTransaction) -> Statement {
        let records = records
        return Statement(
            sql: """
                SELECT found.* FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])
                    AS asked (home, called, key)
                \(Self.place) CROSS JOIN LATERAL (
                    \(PostgresTransaction.selectRecord)
                    WHERE database = asked.home AND zone = place.id
                        AND name >= asked.key AND name <= asked.key
                    ORDER BY name LIMIT 1
                ) AS found
                """,
            parameters: Self.parameters(records.map(\.place)) + [.texts(records.map(\.name))]
        ) { rows in
            for (place, name) in records {
                guard let zone = NeedReads.zone(of: place, transaction) else { continue }
                let key = RowCache.RecordName(zone: zone, name: name)
                transaction.cache.records[key] = .some(nil)
            }
            for row in rows { transaction.cache.store(PostgresTransaction.record(row)) }
        }
    }

    private func readShares(_ transaction: PostgresTransaction) -> Statement {
        let places = shares
        return Statement(
            sql: """
                SELECT place.id, found.share
                FROM unnest($1::bigint[], $2::bytea[]) AS asked (home, called)
                \(Self.place) CROSS JOIN LATERAL (
                    SELECT DISTINCT share FROM record
                    WHERE database = asked.home AND zone = place.id AND share IS NOT NULL
                        AND NOT is_deleted
                ) AS found
                ORDER BY place.id, found.share
                """,
            parameters: Self.parameters(places)
        ) { rows in
            for place in places {
                guard let zone = NeedReads.zone(of: place, transaction) else { continue }
                transaction.cache.shares[zone] = []
            }
            for row in rows {
                transaction.cache.shares[RowID(rawValue: row.int(0)), default: []]
                    .append(row.text(1))
            }
        }
    }

    private func readCollections(_ transaction: PostgresTransaction) -> Statement {
        let collections = collections
        return Statement(
            sql: """
                SELECT found.collection, found.name, found.body
                FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS asked (home, called, beginning)
                \(Self.place) CROSS JOIN LATERAL (
                    SELECT collection, name, body FROM document
                    WHERE collection = asked.beginning || convert_to(place.id::text, 'UTF8')
                    OFFSET 0
                ) AS found
                ORDER BY found.collection, found.name
                """,
            parameters: Self.parameters(collections.map(\.place))
                + [.texts(collections.map(\.beginning))]
        ) { rows in
            for (place, beginning) in collections {
                guard let zone = NeedReads.zone(of: place, transaction) else { continue }
                let name = ByteText(beginning + String(zone.rawValue))
                transaction.cache.collections[name] = []
            }
            for row in rows {
                transaction.cache.collections[ByteText(row.text(0)), default: []]
                    .append(StoredDocument(name: row.text(1), body: row.bytes(2)))
            }
        }
    }
}
#endif
