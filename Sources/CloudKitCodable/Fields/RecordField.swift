public import CloudKit

/// A field of a record: its name, its coding key and its options.
struct RecordField {
    /// The field's name.
    let name: String

    /// The coding key.
    let key: any CodingKey

    /// The model's options for the property.
    let options: CloudKitField?

    /// `true` when the value to be stored came out of an optional, where null would be decoded as
    /// nil.
    var isWithinOptional = false

    /// The key of a value that is not keyed: a list, a number, a string.
    static let valueKey = PathKey("value")

    /// The suffix that the name of a file's field adds to that of the bytes' field.
    static let assetSuffix = "_asset"

    /// The suffix that the name of a child's position field adds to that of the owner's reference.
    static let positionSuffix = "_position"
}

extension CKRecordKeyValueSetting {
    /// Returns the value of a field as a type; nil when the field is empty or holds another type.
    @inline(__always)
    func value<Value: CKRecordValueProtocol>(_ name: String, as type: Value.Type) -> Value? {
        #if canImport(Darwin)
        // Apple's typed subscript ends the process when the field holds another type.
        object(forKey: name) as? Value
        #else
        self[name]
        #endif
    }
}

extension CKRecord {
    /// Returns the value of a field as a type; nil when the field is empty or holds another type.
    @inlinable
    @inline(__always)
    func field<Value: CKRecordValueProtocol>(_ name: String, as type: Value.Type) -> Value? {
        #if canImport(Darwin)
        // Apple's typed subscript ends the process when the field holds another type.
        object(forKey: name) as? Value
        #else
        self[name]
        #endif
    }
}

/// The forms in which values that a record cannot hold directly become fields.
///
/// Decoding reads both, whichever is chosen.
public enum CloudKitRecordForms: Sendable {
    /// The forms of earlier versions of this API, which existing apps have in their schemas: `UUID`,
    /// `Decimal`, raw values and lists of them are JSON bytes.
    case original

    /// The forms that queries and the console can use: `UUID`, `URL` and `Decimal` are strings, raw
    /// values are stored directly, and lists of them are lists.
    case native
}
