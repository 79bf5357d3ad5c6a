/// The identity of a zone on the wire.
public struct WireZoneID: Hashable, Sendable, Codable {
    /// The zone's name, `_defaultZone` for the default zone.
    public var zoneName: String
    /// The user record name of the owner; nil for the caller.
    public var ownerRecordName: String?
    /// What answers say of the kind of zone.
    public var zoneType: String?

    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"
    /// The default zone of the caller.
    public static let defaultZone = Self(zoneName: defaultZoneName)
    /// What clients write for "the caller" where the wire would leave the owner out.
    public static let currentUserNames: Set<String> = ["__defaultOwner__", "_defaultOwner"]

    /// Makes an identity from a name and, for zones of others, the owner.
    public init(
        zoneName: String,
        ownerRecordName: String? = nil,
        zoneType: String? = nil
    ) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
        self.zoneType = zoneType
    }

    /// Whether this is the default zone.
    public var isDefault: Bool { zoneName == Self.defaultZoneName }
}

extension WireZoneID {
    private enum CodingKeys: CodingKey {
        case zoneName, ownerRecordName, zoneType
    }

    /// Reads an identity; a missing name is the default zone's ("Zone ID Dictionary").
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            zoneName: try container.decodeIfPresent(String.self, forKey: .zoneName)
                ?? Self.defaultZoneName,
            ownerRecordName: try container.decodeIfPresent(String.self, forKey: .ownerRecordName),
            zoneType: try container.decodeIfPresent(String.self, forKey: .zoneType)
        )
    }
}
