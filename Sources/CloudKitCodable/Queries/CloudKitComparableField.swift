public import CloudKit

/// A type of property that CloudKit compares with a value.
///
/// Text, numbers, dates, bytes, identifiers and references are such types, and so are their
/// optionals; enumerations with raw values need no conformance. A type of yours that codes itself as
/// one of them conforms by returning the value to compare:
///
/// ```swift
/// extension Price: CloudKitComparableField {
///     static func comparand(_ value: Price) -> (any Sendable)? { value.cents }
/// }
/// ```
public protocol CloudKitComparableField {
    /// The type of the values that the property is compared with.
    associatedtype Comparand = Self

    /// Returns a value in the form that the field holds: a text, a number, a date, bytes or a
    /// reference; nil if no field can hold it.
    static func comparand(_ value: Comparand) -> (any Sendable)?
}

/// A type of property whose values have an order in CloudKit.
public protocol CloudKitOrderedField: CloudKitComparableField {}

extension CloudKitComparableField where Self: FixedWidthInteger, Comparand == Self {
    /// Returns the number, if it fits into a signed integer of 64 bits.
    public static func comparand(_ value: Self) -> (any Sendable)? {
        Int64(exactly: value)
    }
}

extension Optional: CloudKitComparableField where Wrapped: CloudKitComparableField {
    /// Returns the value in the form that the field of the wrapped type holds.
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
    /// Returns the text.
    public static func comparand(_ value: String) -> (any Sendable)? { value }
}

extension Bool: CloudKitComparableField {
    /// Returns one or zero.
    public static func comparand(_ value: Bool) -> (any Sendable)? { value }
}

extension Double: CloudKitOrderedField {
    /// Returns the number.
    public static func comparand(_ value: Double) -> (any Sendable)? { value }
}

extension Float: CloudKitOrderedField {
    /// Returns the number.
    public static func comparand(_ value: Float) -> (any Sendable)? {
        Double(value)
    }
}

extension Date: CloudKitOrderedField {
    /// Returns the date.
    public static func comparand(_ value: Date) -> (any Sendable)? { value }
}

// Bytes, and types stored as text, have no meaningful order in a record.

extension Data: CloudKitComparableField {
    /// Returns the bytes.
    public static func comparand(_ value: Data) -> (any Sendable)? { value }
}

extension UUID: CloudKitComparableField {
    /// Returns the identifier as text.
    public static func comparand(_ value: UUID) -> (any Sendable)? {
        value.uuidString
    }
}

extension URL: CloudKitComparableField {
    /// Returns the address as text; nil for a file, which is an asset.
    public static func comparand(_ value: URL) -> (any Sendable)? {
        value.isFileURL ? nil : value.absoluteString
    }
}

extension Decimal: CloudKitComparableField {
    /// Returns the number as text.
    public static func comparand(_ value: Decimal) -> (any Sendable)? {
        value.text
    }
}

// MARK: References

extension CKRecord.ID: CloudKitComparableField {
    /// Returns a reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.Reference(recordID: value, action: .none)
    }
}

extension CKRecord.Reference: CloudKitComparableField {
    /// Returns a reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.ID.comparand(value)
    }
}

extension CloudKitReference: CloudKitComparableField {
    /// Returns a reference to the record.
    public static func comparand(_ value: CKRecord.ID) -> (any Sendable)? {
        CKRecord.ID.comparand(value)
    }
}

/// A type of property whose field is a list.
public protocol CloudKitListField<Element> {
    /// The type of the elements.
    associatedtype Element
}

extension Array: CloudKitListField {}
extension Set: CloudKitListField {}
extension Optional: CloudKitListField where Wrapped: CloudKitListField {
    /// The type of the elements.
    public typealias Element = Wrapped.Element
}
