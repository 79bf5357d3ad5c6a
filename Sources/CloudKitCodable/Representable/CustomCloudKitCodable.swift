/// A value that can become a record.
public protocol CustomCloudKitEncodable: CloudKitRecordRepresentable & Encodable {}

/// A value that can be read from a record.
public protocol CustomCloudKitDecodable: CloudKitRecordRepresentable & Decodable {}

/// A value that can become a record and be read from one.
public protocol CustomCloudKitCodable: CustomCloudKitEncodable & CustomCloudKitDecodable {}
