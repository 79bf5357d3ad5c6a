/// A value that is a record of its own wherever it stands in another one.
public protocol CKRecordRepresentable {
    /// The record type.
    var cloudKitRecordType: String { get }

    /// The record's name, unique within its zone.
    var cloudKitIdentifier: String { get }

    /// The coding keys that are not stored.
    func ignoredProperties() -> [String]
}

extension CKRecordRepresentable {
    /// Everything is stored.
    public func ignoredProperties() -> [String] { [] }
}

/// A value that can become records.
public typealias CKEncodable = CKRecordRepresentable & Encodable

/// A value that can be read from records.
public typealias CKDecodable = CKRecordRepresentable & Decodable

/// A value that can become records and be read from them.
public typealias CKCodable = CKEncodable & CKDecodable
