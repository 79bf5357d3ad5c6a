public import Foundation

/// A value that says which record it is: the type, the name, and the version it comes from.
///
/// Give the type a stored `cloudKitSystemFields`, so that a decoded value can be saved onto the
/// version that it was read from, and a stable `cloudKitIdentifier`, so that it is one record
/// however often it is encoded:
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

    /// The record type; the name of the Swift type unless stated.
    var cloudKitRecordType: String { get }

    /// The record's name.
    ///
    /// - Important: The default is a new UUID on every access: a value without an identifier of its
    ///   own becomes another record each time it is encoded without system fields.
    var cloudKitIdentifier: String { get }
}

extension CloudKitRecordRepresentable {
    /// The name of the Swift type.
    public var cloudKitRecordType: String { TypeTraits.of(type(of: self)).name }

    /// A new UUID on every access.
    public var cloudKitIdentifier: String { UUID().uuidString }
}

/// The coding key under which system fields travel; they are never a field of the record.
let _CKSystemFieldsKeyName = "cloudKitSystemFields"

/// The coding key that is decoded from the record's name.
let _CKIdentifierKeyName = "cloudKitIdentifier"
