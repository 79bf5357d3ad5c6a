import CloudKitWebClient

/// The change feed of a zone, page by page.
struct ZoneFeedReader {
    let client: WebClient
    let database: DatabaseScope
    let zoneID: WireZoneID
    /// The record types to return; nil for all.
    private let recordTypes: [String]?
    /// The token of the next page, and after the last page that of the next visit.
    private(set) var syncToken: String?
    private var isAtEnd = false

    init(
        client: WebClient,
        database: DatabaseScope,
        zoneID: WireZoneID,
        recordTypes: [String]? = nil,
        syncToken: String?
    ) {
        self.client = client
        self.database = database
        self.zoneID = zoneID
        self.recordTypes = recordTypes
        self.syncToken = syncToken
    }

    /// Returns the records of the next page, including tombstones; nil after the last one.
    ///
    /// - Throws: `WebClientError`, or `CommandFailure` when the service refuses the zone.
    mutating func next() async throws -> [ItemResult<WireRecord>]? {
        guard !isAtEnd else { return nil }
        var request = ZoneChangesRequest(zones: [.init(zoneID: zoneID, syncToken: syncToken)])
        request.desiredRecordTypes = recordTypes
        let response = try await client.zoneChanges(request, in: database)
        guard let zone = response.zones.first else {
            throw CommandFailure("The service returned nothing for the zone \(zoneID.zoneName)")
        }
        switch zone {
        case .success(let page):
            syncToken = page.syncToken
            isAtEnd = page.moreComing != true
            return page.records
        case .failure(let error):
            throw CommandFailure(OutputOptions.text(error))
        }
    }
}
