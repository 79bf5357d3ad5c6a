/// A record as it stands on the wire: all of it in answers, what changes in requests.
public struct WireRecord: Hashable, Sendable {
    /// Who did something, when and from which device.
    public struct Stamp: Hashable, Sendable, Codable {
        /// Milliseconds since 1970-01-01 UTC.
        public var timestamp: Int64
        /// The user record name of who did it.
        public var userRecordName: String?
        /// The device it was done from.
        public var deviceID: String?

        /// Makes a stamp.
        public init(timestamp: Int64, userRecordName: String?, deviceID: String?) {
            self.timestamp = timestamp
            self.userRecordName = userRecordName
            self.deviceID = deviceID
        }
    }

    /// The record's name, unique in its zone; nil asks the server to make one.
    public var recordName: String?
    /// The record's type; absent on tombstones.
    public var recordType: String?
    /// The version of the server's copy.
    public var recordChangeTag: String?
    /// The fields by name.
    public var fields: [String: WireField]
    /// When and by whom the record was made; set by the server.
    public var created: Stamp?
    /// When and by whom the record was last changed; set by the server.
    public var modified: Stamp?
    /// True on a tombstone, false on live records in answers.
    public var deleted: Bool?
    /// The record's zone; nil for the request's zone.
    public var zoneID: WireZoneID?
    /// The record above this one in a shared hierarchy.
    public var parent: WireReference?
    /// Whether a changed record has no parent any more; a key of this package's own, as null means
    /// the same as nothing.
    public var removesParent: Bool?
    /// The share that the record is the root of.
    public var share: WireReference?
    /// Asks the server for a short identifier by which the record can be shared.
    public var createShortGUID: Bool?
    /// The short identifier of a shared record.
    public var shortGUID: String?
    /// The parts that only a share has; nil for other records.
    public var shareParts: WireShare?

    /// The record type of shares.
    public static let shareType = "cloudkit.share"

    /// Makes a record from what a request says of it.
    public init(
        recordName: String?,
        recordType: String? = nil,
        recordChangeTag: String? = nil,
        fields: [String: WireField] = [:],
        zoneID: WireZoneID? = nil
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.recordChangeTag = recordChangeTag
        self.fields = fields
        self.zoneID = zoneID
    }

    /// The record's size without its assets, in bytes, as the limit counts it.
    public var byteCount: Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value.value?.byteCount ?? 0) }
    }
}

extension WireRecord: Codable {
    private enum CodingKeys: CodingKey {
        case recordName, recordType, recordChangeTag, fields, pluginFields, created, modified
        case deleted, zoneID, parent, removesParent, share, createShortGUID, shortGUID
    }

    /// Reads a record; keys that this version does not know are ignored.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        recordName = try container.decodeIfPresent(String.self, forKey: .recordName)
        recordType = try container.decodeIfPresent(String.self, forKey: .recordType)
        recordChangeTag = try container.decodeIfPresent(String.self, forKey: .recordChangeTag)
        fields = try container.decodeIfPresent([String: WireField].self, forKey: .fields) ?? [:]
        created = try container.decodeIfPresent(Stamp.self, forKey: .created)
        modified = try container.decodeIfPresent(Stamp.self, forKey: .modified)
        deleted = try container.decodeIfPresent(Bool.self, forKey: .deleted)
        zoneID = try container.decodeIfPresent(WireZoneID.self, forKey: .zoneID)
        parent = try container.decodeIfPresent(WireReference.self, forKey: .parent)
        removesParent = try container.decodeIfPresent(Bool.self, forKey: .removesParent)
        share = try container.decodeIfPresent(WireReference.self, forKey: .share)
        createShortGUID = try container.decodeIfPresent(Bool.self, forKey: .createShortGUID)
        shortGUID = try container.decodeIfPresent(String.self, forKey: .shortGUID)
        if recordType == Self.shareType {
            let parts = try WireShare(from: decoder)
            shareParts = parts.isEmpty ? nil : parts
        }
    }

    /// Writes a record; a live one of an answer (`deleted` is false) carries `pluginFields` too,
    /// as observed on the service.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(recordName, forKey: .recordName)
        try container.encodeIfPresent(recordType, forKey: .recordType)
        try container.encodeIfPresent(recordChangeTag, forKey: .recordChangeTag)
        try container.encodeIfPresent(created, forKey: .created)
        try container.encodeIfPresent(modified, forKey: .modified)
        try container.encodeIfPresent(deleted, forKey: .deleted)
        try container.encodeIfPresent(zoneID, forKey: .zoneID)
        try container.encodeIfPresent(parent, forKey: .parent)
        try container.encodeIfPresent(removesParent, forKey: .removesParent)
        try container.encodeIfPresent(share, forKey: .share)
        try container.encodeIfPresent(createShortGUID, forKey: .createShortGUID)
        try container.encodeIfPresent(shortGUID, forKey: .shortGUID)
        try shareParts?.encode(to: encoder)
        if deleted != true { try container.encode(fields, forKey: .fields) }
        if deleted == false { try container.encode([String: String](), forKey: .pluginFields) }
    }
}
