/// A record on the wire: complete in responses, only the changes in requests.
public struct WireRecord: Hashable, Sendable {
    /// The user, date and device of a change.
    public struct Stamp: Hashable, Sendable, Codable {
        /// Milliseconds since 1970-01-01 UTC.
        public var timestamp: Int64
        /// The record name of the user who made the change.
        public var userRecordName: String?
        /// The device that made the change.
        public var deviceID: String?

        /// The keys, for coders, readers and writers.
        package enum CodingKeys: CodingKey {
            case timestamp, userRecordName, deviceID
        }

        /// Creates a stamp.
        public init(timestamp: Int64, userRecordName: String?, deviceID: String?) {
            self.timestamp = timestamp
            self.userRecordName = userRecordName
            self.deviceID = deviceID
        }
    }

    /// The record's name, unique in its zone; nil lets the server create one.
    public var recordName: String?
    /// The record's type; absent on tombstones.
    public var recordType: String?
    /// The version of the server's copy.
    public var recordChangeTag: String?
    /// The fields by name.
    public var fields: [String: WireField]
    /// The date and user of the record's creation; set by the server.
    public var created: Stamp?
    /// The date and user of the last change; set by the server.
    public var modified: Stamp?
    /// `true` on a tombstone, `false` on live records in responses.
    public var deleted: Bool?
    /// The record's zone; nil for the request's zone.
    public var zoneID: WireZoneID?
    /// The record above this one in a shared hierarchy.
    public var parent: WireReference?
    /// A Boolean value that indicates whether the change removes the record's parent; an extension
    /// of this package, because null means the same as an absent key.
    public var removesParent: Bool?
    /// The share whose root is this record.
    public var share: WireReference?
    /// A Boolean value that requests a short ID from the server, by which the record can be shared.
    public var createShortGUID: Bool?
    /// The short ID of a shared record.
    public var shortGUID: String?
    /// The parts that only a share has; nil for other records.
    public var shareParts: WireShare?

    /// The record type of shares.
    public static let shareType = "cloudkit.share"

    /// Creates a record from the members of a request.
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

    /// The record's size in bytes without its assets, as the service's limit counts it.
    public var byteCount: Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value.value?.byteCount ?? 0) }
    }
}

extension WireRecord: Codable {
    /// The keys, for coders, readers and writers.
    package enum CodingKeys: CodingKey, CaseIterable {
        case recordName, recordType, recordChangeTag, fields, pluginFields, created, modified
        case deleted, zoneID, parent, removesParent, share, createShortGUID, shortGUID
    }

    /// Creates a record by decoding; ignores keys that this version does not know.
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

    /// Encodes a record; a live one of a response (`deleted` is false) carries `pluginFields` too,
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
