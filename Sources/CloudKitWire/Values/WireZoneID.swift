/// A zone's ID on the wire.
public struct WireZoneID: Hashable, Sendable, Codable {
    /// The zone's name, `_defaultZone` for the default zone.
    public var zoneName: String
    /// The user record name of the owner; nil for the caller.
    public var ownerRecordName: String?
    /// The kind of zone, in responses.
    public var zoneType: String?

    /// The name of the default zone, which every database has.
    public static let defaultZoneName = "_defaultZone"
    /// The default zone of the caller.
    public static let defaultZone = Self(zoneName: defaultZoneName)
    /// The owner names that clients write for the caller, where the wire omits the owner.
    public static let currentUserNames: Set<String> = ["__defaultOwner__", "_defaultOwner"]

    /// Creates an ID from a name and, for another user's zone, the owner.
    public init(
        zoneName: String,
        ownerRecordName: String? = nil,
        zoneType: String? = nil
    ) {
        self.zoneName = zoneName
        self.ownerRecordName = ownerRecordName
        self.zoneType = zoneType
    }

    /// A Boolean value that indicates whether this is the default zone.
    public var isDefault: Bool { zoneName == Self.defaultZoneName }
}

extension WireZoneID {
    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey {
        case zoneName, ownerRecordName, zoneType
    }

    /// Creates an ID by decoding; a missing name is the default zone's ("Zone ID Dictionary").
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
