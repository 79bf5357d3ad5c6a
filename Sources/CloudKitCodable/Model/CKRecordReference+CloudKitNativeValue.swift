public import CloudKit

extension CKRecord.Reference: CloudKitNativeValue {
    private enum CodingKeys: String, CodingKey {
        case recordName, zoneName, ownerName, action
    }

    /// The reference.
    public var recordValue: (any CKRecordValue)? { self }

    /// Returns the value if it is a reference.
    public static func value(from recordValue: (any CKRecordValue)?) -> Self? {
        recordValue as? Self
    }

    /// Encodes the target and the action.
    public func encodePortably(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordID.recordName, forKey: .recordName)
        try container.encode(recordID.zoneID.zoneName, forKey: .zoneName)
        try container.encode(recordID.zoneID.ownerName, forKey: .ownerName)
        try container.encode(action.rawValue, forKey: .action)
    }

    /// Decodes what `encodePortably(to:)` encoded.
    public static func decodePortably(from decoder: any Decoder) throws -> Self {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let names = try [CodingKeys.recordName, .zoneName, .ownerName].map { key in
            try container.decode(String.self, forKey: key)
        }
        let action = CKRecord.ReferenceAction(
            rawValue: try container.decode(UInt.self, forKey: .action)
        )
        guard let action, names.allSatisfy({ !$0.isEmpty }) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected a reference: an empty name or an unknown action"
                )
            )
        }
        let zoneID = CKRecordZone.ID(zoneName: names[1], ownerName: names[2])
        let reference = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: names[0], zoneID: zoneID),
            action: action
        )
        return try checked(reference, decoder)
    }
}
