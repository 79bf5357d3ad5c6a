import CloudKit

/// A property wrapper for a value that a record holds directly although its type is not `Codable`.
///
/// ```swift
/// struct Place: CloudKitModel {
///     var id: String
///     @CloudKitValue var coordinate: CLLocation
///     @CloudKitValue var owner: CKRecord.Reference?
/// }
/// ```
///
/// Other coders, such as JSON's, store locations and references as keyed values.
@propertyWrapper
public struct CloudKitValue<Value: CloudKitNativeValue>: Codable {
    /// The value.
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    /// Decodes the value from a coder that is not of this module.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try Value.decodePortably(from: decoder)
    }

    /// Encodes the value for a coder that is not of this module.
    public func encode(to encoder: any Encoder) throws {
        try wrappedValue.encodePortably(to: encoder)
    }
}

extension CloudKitValue: Equatable where Value: Equatable {}
extension CloudKitValue: Hashable where Value: Hashable {}
extension CloudKitValue: Sendable where Value: Sendable {}

/// The view that this module's coders have of a wrapped value, whatever its type.
protocol NativeField {
    static var valueType: Any.Type { get }
    var object: (any CKRecordValue)? { get }
    static func field(from object: (any CKRecordValue)?) -> Self?
}

extension CloudKitValue: NativeField {
    static var valueType: Any.Type { Value.self }
    var object: (any CKRecordValue)? { wrappedValue.recordValue }

    static func field(from object: (any CKRecordValue)?) -> Self? {
        guard let value = Value.value(from: object) else { return nil }
        return Self(wrappedValue: value)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a wrapped optional; nil when the key has no value.
    public func decode<Value>(
        _ type: CloudKitValue<Value?>.Type,
        forKey key: Key
    ) throws -> CloudKitValue<Value?> {
        try decodeIfPresent(type, forKey: key) ?? CloudKitValue(wrappedValue: nil)
    }
}
