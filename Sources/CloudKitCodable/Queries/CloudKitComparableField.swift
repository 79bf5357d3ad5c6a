public import CloudKit

/// A type of property that CloudKit compares with a value.
///
/// Text, numbers, dates, bytes, identifiers and references are; so are their optionals, and enumerations
/// with raw values without a conformance. A type of yours that codes itself as one of them becomes
/// one by saying what it is compared as:
///
/// ```swift
/// extension Price: CloudKitComparableField {
///     static func comparand(_ value: Price) -> (any Sendable)? { value.cents }
/// }
/// ```
public protocol CloudKitComparableField {
    /// The type of the values that the property is compared with.
    associatedtype Comparand = Self

    /// A value as the field holds it, a text, a number, a date, bytes or a reference; nil for one that no
    /// field can hold.
    static func comparand(_ value: Comparand) -> (any Sendable)?
}

/// A type of property whose values CloudKit knows the order of.
public protocol CloudKitOrderedField: CloudKitComparableField {}

extension CloudKitComparableField where Self: FixedWidthInteger, Comparand == Self {
    /// The number, if it is one of 64 bits with a sign.
    public static func comparand(_ value: Self) -> (any Sendable)? {
        Int64(exactly: value)
    }
}

extension Optional: CloudKitComparableField where Wrapped: CloudKitComparableField {
    /// The value as the field of the wrapped type holds it.
    public static func comparand(_ value: Wrapped.Comparand) -> (any Sendable)? {
        Wrapped.comparand(value)
    }
}

extension Optional: CloudKitOrderedField where Wrapped: CloudKitOrderedField {}

// MARK: Values

extension Int: CloudKitOrderedField {}
extension Int8: CloudKitOrderedField {}
extension Int16: CloudKitOrderedField {}
extension Int32: CloudKitOrderedField {}
extension Int64: CloudKitOrderedField {}
extension UInt: CloudKitOrderedField {}
extension UInt8: CloudKitOrderedField {}
extension UInt16: CloudKitOrderedField {}
extension UInt32: CloudKitOrderedField {}
extension UInt64: CloudKitOrderedField {}

extension String: CloudKitOrderedField {
    /// The text.
    public static func comparand(_ value: String) -> (any Sendable)? { value }
}

extension Bool: CloudKitComparableField {
    /// One or zero.
    public static func comparand(_ value: Bool) -> (any Sendable)? { value }
}

extension Double: CloudKitOrderedField {
    /// The number.
    public static func comparand(_ value: Double) -> (any Sendable)? { value }
}

extension Float: CloudKitOrderedField {
    /// The number.
    public static func comparand(_ value: Float) -> (any Sendable)? {
        Double(value)
    }
}

extension Date: CloudKitOrderedField {
    /// The date.
    public static func comparand(_ value: Date) -> (any Sendable)? { value }
}

// Bytes, and what is text in a record, have no order there that means anything.

extension Data: CloudKitComparableField {
    /// The bytes.
    public static func comparand(_ value: Data) -> (any Sendable)? { value }
}

extension UUID: CloudKitComparableField {
    /// The identifier as text.
    public static func comparand(_ value: UUID) -> (any Sendable)? {
        value.uuidString
    }
}

extension URL: CloudKitComparableField {
    /// The address as text; nil for a file, which is an asset.
    public static func comparand(_ value: URL) -> (any Sendable)? {
        value.isFileURL ? nil : value.absoluteString
    }
}

extension Decimal: CloudKitComparableField {
    /// The number as text.
    public static func comparand(_ value: Decimal) -> (any Sendable)? {
        value.text
    }
}

// MARK: References

extension CKRecord.ID: CloudKitComparableField {
    /// A reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.Reference(recordID: value, action: .none)
    }
}

extension CKRecord.Reference: CloudKitComparableField {
    /// A reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.ID.comparand(value)
    }
}

extension CloudKitReference: CloudKitComparableField {
    /// A reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.ID.comparand(value)
    }
}
