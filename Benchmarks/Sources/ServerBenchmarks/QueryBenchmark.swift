import BenchmarkHarness
import CloudKitWebClient
import Foundation

extension ServerBench {
    /// The number of records with one value of the queried field.
    private static let bucketSize = 200

    /// Fills a zone with groups of 200 records, which share a value of the field `bucket`, and
    /// queries the records of one value.
    func indexedQuery(records: Int) async throws -> Work {
        let zone = WireZoneID(zoneName: "Query\(records)")
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
        let bucket = Int64(records / Self.bucketSize / 2)
        let query = WireQuery(
            recordType: "Entry",
            filterBy: [WireFilter("bucket", .equals, .int64(bucket))]
        )
        let body = try WireJSON.encode(QueryRecordsRequest(query: query, zoneID: zone))
        let url = url(.recordsQuery)
        let response = try WireJSON.decode(RecordsResponse.self, from: await post(body, to: url))
        guard response.records.count == Self.bucketSize else {
            throw BenchError(description: "\(response.records.count) results of the query")
        }
        return Work("query with 200 results out of \(records)") {
            _ = try await post(body, to: url)
        }
    }
}
