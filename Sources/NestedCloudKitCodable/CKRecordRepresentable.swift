/// A value that becomes a record of its own wherever it occurs in another value.
public protocol CKRecordRepresentable {
    /// The record type.
    var cloudKitRecordType: String { get }

    /// The record's name, unique within its zone.
    var cloudKitIdentifier: String { get }

    /// Returns the coding keys that are not stored.
    func ignoredProperties() -> [String]
}

extension CKRecordRepresentable {
    /// Returns no keys: everything is stored.
    public func ignoredProperties() -> [String] { [] }
}

/// A value that can become records.
public typealias CKEncodable = CKRecordRepresentable & Encodable

/// A value that can be decoded from records.
public typealias CKDecodable = CKRecordRepresentable & Decodable

/// A value that can become records and be decoded from them.
public typealias CKCodable = CKEncodable & CKDecodable
