import CloudKit
import Foundation

/// The CloudKit type of a list's elements, derived from their Swift type.
enum ListElement: String {
    case string = "STRING"
    case integer = "INT64"
    case double = "DOUBLE"
    case date = "TIMESTAMP"
    case bytes = "BYTES"
    case asset = "ASSET"
    case reference = "REFERENCE"
    case native

    /// Creates the element type; nil for types whose lists are JSON.
    init?(_ type: Any.Type, _ forms: CloudKitRecordForms) {
        if let scalar = Self(scalar: type) {
            self = scalar
            return
        }
        switch FieldKind.of(type) {
        case .nativeField: self = .native
        case .reference: self = .reference
        case .assetValue where forms == .native: self = .asset
        case .stringEnum where forms == .native: self = .string
        case .integerEnum where forms == .native: self = .integer
        default:
            guard forms == .native, let element = Self(plain: type) else { return nil }
            self = element
        }
    }

    /// Creates the element type of types that a record's list holds directly.
    private init?(scalar type: Any.Type) {
        if type == String.self {
            self = .string
        } else if type == Double.self || type == Float.self {
            self = .double
        } else if type == Bool.self || type is any FixedWidthInteger.Type {
            self = .integer
        } else if type == Date.self {
            self = .date
        } else if type == Data.self {
            self = .bytes
        } else {
            return nil
        }
    }

    /// Creates the element type of types with a plain form.
    private init?(plain type: Any.Type) {
        if type == UUID.self || type == URL.self || type == Decimal.self {
            self = .string
        } else if let rawValue = type as? any RawRepresentable.Type {
            // The coded form does not matter: an empty list has no element to encode.
            self.init(scalar: rawValue.rawValueType)
        } else {
            return nil
        }
    }
}

extension RawRepresentable {
    /// The type of the raw value.
    static var rawValueType: Any.Type { RawValue.self }
}

/// An optional, whatever its type.
protocol OptionalValue {
    static var wrappedType: Any.Type { get }
    static func wrapping(_ value: Any?) -> Self
    var wrapped: (any Encodable)? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: Any.Type { Wrapped.self }
    static func wrapping(_ value: Any?) -> Self { value.flatMap { $0 as? Wrapped } }
    var wrapped: (any Encodable)? { flatMap { $0 as? any Encodable } }
}
