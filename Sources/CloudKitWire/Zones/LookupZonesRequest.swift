/// The body of `zones/lookup`.
public struct LookupZonesRequest: Hashable, Sendable, Codable {
    /// The zones to look up.
    public var zones: [WireZoneID]

    /// Creates a request.
    public init(zones: [WireZoneID]) {
        self.zones = zones
    }

    private enum CodingKeys: CodingKey {
        case zones
    }

    /// Some clients wrap each ID as `{"zoneID": {…}}`; both forms are decoded.
    private struct Element: Decodable {
        let zoneID: WireZoneID

        private enum CodingKeys: CodingKey {
            case zoneID
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            zoneID =
                try container.decodeIfPresent(WireZoneID.self, forKey: .zoneID)
                ?? WireZoneID(from: decoder)
        }
    }

    /// Creates a request by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decode([Element].self, forKey: .zones).map(\.zoneID)
    }
}
