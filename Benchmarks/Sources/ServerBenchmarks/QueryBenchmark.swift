import BenchmarkHarness
import CloudKitWebClient
import Foundation
import GRDB

extension ServerBench {
    /// The number of records with one value of the queried field.
    private static let bucketSize = 200

    /// Fills a zone with groups of 200 records, which share a value of the field `bucket`, and
    /// queries the records of one value.
    func indexedQuery(records: Int) async throws -> Work {
        let zone = WireZoneID(zoneName: Self.zone(of: records))
        let zones = ModifyZonesRequest(operations: [.init(.create, zone)])
        _ = try await client.modifyZones(zones, in: .private)
        for bucket in 0..<records / Self.bucketSize {
            let operations = (0..<Self.bucketSize).map { index in
                var record = WireRecord(recordName: "r\(bucket)-\(index)", recordType: "Entry")
                record.fields = [
                    "bucket": WireField(.int64(Int64(bucket))),
                    "title": WireField(.string("Entry \(index) of \(bucket)")),
                ]
                return RecordOperation(.create, record)
            }
            let request = ModifyRecordsRequest(
                operations: operations,
                zoneID: zone,
                desiredKeys: []
            )
            _ = try await post(WireJSON.encode(request), to: url(.recordsModify))
        }
        let body = try queryBody(records: records)
        let url = url(.recordsQuery)
        let response = try WireJSON.decode(RecordsResponse.self, from: await post(body, to: url))
        guard response.records.count == Self.bucketSize else {
            throw BenchError(description: "\(response.records.count) results of the query")
        }
        return Work(
            "query with 200 results out of \(records)",
            units: Double(Self.bucketSize)
        ) {
            _ = try await post(body, to: url)
        }
    }

    private func queryBody(records: Int) throws -> Data {
        let query = WireQuery(
            recordType: "Entry",
            filterBy: [
                WireFilter("bucket", .equals, .int64(Int64(records / Self.bucketSize / 2)))
            ]
        )
        let zone = WireZoneID(zoneName: Self.zone(of: records))
        return try WireJSON.encode(QueryRecordsRequest(query: query, zoneID: zone))
    }

    /// Reads the results of the same query in a plain handler.
    func servedQuery(records: Int) async throws -> Work {
        try await served(
            try rawQuery(records: records),
            try queryBody(records: records),
            to: url(.recordsQuery)
        )
    }

    /// Reads the results of the same query with one SELECT, every column of each row.
    ///
    /// The floor has no JSON, no HTTP, no tokens and no rules, and knows the index and its key.
    func rawQuery(records: Int) throws -> Work {
        let path = directory.appendingPathComponent("cloud.sqlite").path
        let pool = try DatabasePool(path: path)
        let name = "r\(records / Self.bucketSize / 2)-0"
        // The index whose entries with the key of one result are the results.
        let place = try pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT entry.zone, entry.number, entry.key
                    FROM zone JOIN record ON record.zone = zone.content AND record.name = ?2
                    JOIN indexEntry AS entry
                        ON entry.zone = record.zone AND entry.record = record.id
                    WHERE zone.name = ?1 AND (
                        SELECT count(*) FROM indexEntry AS other
                        WHERE other.zone = entry.zone AND other.number = entry.number
                            AND other.key = entry.key
                    ) = ?3
                    LIMIT 1
                    """,
                arguments: [Self.zone(of: records), name, Self.bucketSize]
            )
        }
        guard let place else {
            throw BenchError(description: "No index has \(Self.bucketSize) entries for \(name)")
        }
        let arguments = StatementArguments(Array(place.databaseValues))
        return Work("the same SELECT in SQLite", units: Double(Self.bucketSize)) {
            let (count, bytes) = try await pool.read { database in
                let statement = try database.cachedStatement(
                    sql: """
                        SELECT record.* FROM indexEntry AS entry
                        JOIN record ON record.id = entry.record
                        WHERE entry.zone = ? AND entry.number = ? AND entry.key = ?
                        ORDER BY entry.record
                        """
                )
                let rows = try Row.fetchCursor(statement, arguments: arguments)
                var (count, bytes) = (0, 0)
                while let row = try rows.next() {
                    count += 1
                    for value in row.databaseValues {
                        bytes += String.fromDatabaseValue(value)?.utf8.count ?? 8
                    }
                }
                return (count, bytes)
            }
            guard count == Self.bucketSize else {
                throw BenchError(description: "\(count) rows of the SELECT")
            }
            keep(bytes)
        }
    }

    private static func zone(of records: Int) -> String { "Query\(records)" }
}
