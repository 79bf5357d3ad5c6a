import CloudKitWire
import Foundation
import ServerFixtures
import Testing

/// The state of a zone on one device.
struct FeedDevice {
    let user: FixtureCloud.User
    /// The database in which the user finds the zone: the private one for its owner.
    var database = DatabaseScope.shared
    private(set) var names: Set<String> = []
    private(set) var parents: [String: String] = [:]
    /// All names that the service ever reported to the device, deleted or not.
    private(set) var told: Set<String> = []
    /// The number of times that the device had to start over because its token had expired.
    private(set) var expiries = 0
    private var token: String?
    /// `true` when the zone existed at the device's last request for zones.
    private(set) var knowsZone = false
    private var zonesToken: String?

    init(user: FixtureCloud.User, database: DatabaseScope = .shared) {
        self.user = user
        self.database = database
    }

    /// Follows the feed to its end; a zone that is no longer shared is removed.
    ///
    /// - Returns: The names that the service reported, deleted or not.
    @discardableResult
    mutating func sync(
        _ cloud: FixtureCloud,
        _ zoneID: JSON,
        limit: Int = 200
    ) async throws -> Set<String> {
        var news: Set<String> = []
        var hasMore = true
        while hasMore {
            var zone: [String: JSON] = ["zoneID": zoneID, "resultsLimit": .int(Int64(limit))]
            if let token { zone["syncToken"] = .string(token) }
            let body: JSON = ["zones": [.object(zone)]]
            let response = try await cloud.call("changes/zone", database, as: user, body)
            let page = response.body.zones[0]
            if page.serverErrorCode == "ZONE_NOT_FOUND" {
                (names, parents, token) = ([], [:], nil)
                return news
            }
            if page.serverErrorCode == "CHANGE_TOKEN_EXPIRED", token != nil {
                (names, parents, token) = ([], [:], nil)
                expiries += 1
                continue
            }
            try #require(page.serverErrorCode == nil, "\(page)")
            for record in page.records.elements { take(record, &news) }
            token = page.syncToken.text
            hasMore = page.moreComing == true
        }
        return news
    }

    /// Fetches the zones that changed.
    ///
    /// - Returns: `true` when the zone is reported as deleted, even if it exists again.
    mutating func followZones(_ cloud: FixtureCloud) async throws -> Bool {
        var body: [String: JSON] = [:]
        if let zonesToken { body["syncToken"] = .string(zonesToken) }
        let response = try await cloud.call("changes/database", database, as: user, .object(body))
        let next: String = try #require(response.body.syncToken.text, "\(response)")
        zonesToken = next
        let news = response.body.zones.elements.map { $0.deleted == true }
        try #require([[], [false], [true], [true, false]].contains(news), "\(response)")
        knowsZone = news.last.map { !$0 } ?? knowsZone
        return news.contains(true)
    }

    private mutating func take(_ record: JSON, _ news: inout Set<String>) {
        guard let name = record.recordName.text else { return }
        told.insert(name)
        news.insert(name)
        if record.deleted == true {
            names.remove(name)
            parents[name] = nil
        } else {
            names.insert(name)
            parents[name] = record.parent.recordName.text
        }
    }
}
