/// The response of `zones/list`, `zones/lookup` and `zones/modify`.
public struct ZonesResponse: Hashable, Sendable, Codable {
    /// The zones, in the order of the request, if it had one.
    public var zones: [ItemResult<WireZone>]

    /// Creates a response.
    public init(zones: [ItemResult<WireZone>]) {
        self.zones = zones
    }

    private enum CodingKeys: CodingKey {
        case zones
    }

    /// Creates a response by decoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        zones = try container.decodeItems(WireZone.self, forKey: .zones)
    }

    /// Encodes a response.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeItems(zones, forKey: .zones)
    }
}
