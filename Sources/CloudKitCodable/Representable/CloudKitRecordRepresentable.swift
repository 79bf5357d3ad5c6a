public import Foundation

/// A value that determines its record: the type, the name, and the version from which it was decoded.
///
/// Declare a stored `cloudKitSystemFields`, so that a decoded value can be saved onto its version,
/// and a stable `cloudKitIdentifier`, so that repeated encodings yield the same record:
///
/// ```swift
/// struct Person: CustomCloudKitCodable {
///     var cloudKitSystemFields: Data?
///     var cloudKitIdentifier: String
///     var name: String
/// }
/// ```
public protocol CloudKitRecordRepresentable {
    /// The archived system fields of the record that the value was decoded from; nil for a new one.
    var cloudKitSystemFields: Data? { get }

    /// The record type; by default the name of the Swift type.
    var cloudKitRecordType: String { get }

    /// The record's name.
    ///
    /// - Important: The default is a new UUID on every access: a value without its own identifier
    ///   becomes another record each time it is encoded without system fields.
    var cloudKitIdentifier: String { get }
}

extension CloudKitRecordRepresentable {
    /// A new UUID on every access.
    public var cloudKitIdentifier: String { UUID().uuidString }
}

/// The coding key of system fields, which are never a field of the record.
let _CKSystemFieldsKeyName = "cloudKitSystemFields"

/// The coding key of the record's name.
let _CKIdentifierKeyName = "cloudKitIdentifier"

/// A value that can become a record.
public protocol CustomCloudKitEncodable: CloudKitRecordRepresentable & Encodable {}

/// A value that can be read from a record.
public protocol CustomCloudKitDecodable: CloudKitRecordRepresentable & Decodable {}

/// A value that can become a record and be read from one.
public protocol CustomCloudKitCodable: CustomCloudKitEncodable & CustomCloudKitDecodable {}
