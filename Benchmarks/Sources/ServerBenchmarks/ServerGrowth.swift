public import BenchmarkHarness
import CloudKitWebClient
import Foundation

/// The growth of requests' times with the number of records in their zone.
public enum ServerGrowth {
    /// Measures requests to zones with some numbers of records.
    public static func curves(_ counts: [Int], _ rounds: Rounds) async throws -> [Curve] {
        let bench = try await ServerBench.start()
        var lookup = Curve("lookup of one record", "µs")
        var query = Curve("query with 200 results", "µs")
        var changes = Curve("page of 200 changes", "µs")
        var modify = Curve("modify of 200 new records", "µs")
        for count in counts {
            let works = try await bench.works(records: count)
            func point(_ work: Work) async throws -> Curve.Point {
                Curve.Point(count: count, value: try await rounds.seconds(of: work) * 1_000_000)
            }
            lookup.points.append(try await point(works.lookup))
            query.points.append(try await point(works.query))
            changes.points.append(try await point(works.changes))
            modify.points.append(try await point(works.modify))
        }
        return [lookup, query, changes, modify]
    }
}

extension ServerBench {
    fileprivate struct Works {
        var lookup: Work
        var query: Work
        var changes: Work
        var modify: Work
    }

    fileprivate func works(records: Int) async throws -> Works {
        let results = try await indexedQuery(records: records)
        let zoneID = WireZoneID(zoneName: "Query\(records)")
        let look = try WireJSON.encode(
            LookupRecordsRequest(records: [.init(recordName: "r0-0")], zoneID: zoneID)
        )
        let page = try WireJSON.encode(
            ZoneChangesRequest(zones: [.init(zoneID: zoneID, resultsLimit: 200)])
        )
        let notes = NoteBatch(count: 200, zone: zoneID.zoneName)
        let counter = Counter()
        let (lookups, feed, saves) = (url(.recordsLookup), url(.changesZone), url(.recordsModify))
        return Works(
            lookup: Work("lookup") { _ = try await post(look, to: lookups) },
            query: Work("query") { try await results.body() },
            changes: Work("changes") { _ = try await post(page, to: feed) },
            modify: Work("modify") { _ = try await post(notes.body(counter.next()), to: saves) }
        )
    }
}
