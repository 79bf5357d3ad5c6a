#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The value of a record's field.
public enum WireValue: Hashable, Sendable {
    /// Unicode text.
    case string(String)
    /// A signed 64-bit integer; booleans are 0 and 1.
    case int64(Int64)
    /// A finite 64-bit floating-point number.
    case double(Double)
    /// Milliseconds since 1970-01-01 UTC.
    case timestamp(Int64)
    /// Raw bytes.
    case bytes(Data)
    /// A reference to a record.
    case reference(WireReference)
    /// A geographic location.
    case location(WireLocation)
    /// A file stored apart from the record.
    case asset(WireAsset)
    /// Values of one type; the type is nil only for an empty list that never had one.
    case list([WireValue], of: FieldType.Scalar?)

    /// The value's type.
    public var type: FieldType {
        switch self {
        case .string: FieldType(.string)
        case .int64: FieldType(.int64)
        case .double: FieldType(.double)
        case .timestamp: FieldType(.timestamp)
        case .bytes: FieldType(.bytes)
        case .reference: FieldType(.reference)
        case .location: FieldType(.location)
        case .asset: FieldType(.asset)
        case .list(_, let scalar): FieldType(listOf: scalar)
        }
    }

    /// The value's share of a record's size, in bytes; an asset's file does not count.
    public var byteCount: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .int64, .double, .timestamp: 8
        case .bytes(let data): data.count
        case .reference(let reference): reference.recordName.utf8.count + 16
        case .location: 64
        case .asset: 64
        case .list(let values, _): values.reduce(0) { $0 + $1.byteCount }
        }
    }
}
