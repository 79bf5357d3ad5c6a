#if PostgreSQL
import ServerFixtures

/// A client that follows a zone's feed page by page, and remembers the records.
struct FeedReader {
    private let door: Door
    private let zone: String
    private var follower = Follower()
    private(set) var records: [String: JSON] = [:]

    init(_ door: Door, zone: String = NodeWorkload.zone) {
        self.door = door
        self.zone = zone
    }

    /// Reads the feed to its end.
    mutating func read() async throws {
        repeat {
            let body = try await door.callUntilDone(
                "changes/zone",
                ["zones": [["zoneID": FixtureCloud.zone(zone), "syncToken": follower.token]]],
                node: 0
            )
            let page = body.zones[0]
            if let problem = follower.take(page) { door.problems.add(problem) }
            for record in page.records.elements {
                guard let name = record.recordName.text else { continue }
                records[name] = record.deleted == true ? nil : record
            }
        } while follower.isMoreComing
    }
}
#endif
