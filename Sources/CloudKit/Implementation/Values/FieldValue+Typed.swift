import CloudKitBasics
import CoreLocation
import Foundation

// The conversions of the typed subscript. Comparing metatypes takes a nanosecond, a dynamic cast
// fifty.
extension FieldValue {
    /// Creates a field value from a value of a statically known type.
    init<Value: CKRecordValueProtocol>(typed value: Value) {
        if let string = exactCast(value, to: String.self) {
            self = .string(string)
        } else if let integer = exactCast(value, to: Int.self) {
            self = .int64(Int64(integer))
        } else if let integer = exactCast(value, to: Int64.self) {
            self = .int64(integer)
        } else if let double = exactCast(value, to: Double.self) {
            self = .double(double)
        } else if let flag = exactCast(value, to: Bool.self) {
            self = .int64(flag ? 1 : 0)
        } else if let date = exactCast(value, to: Date.self) {
            self = .date(date)
        } else if let data = exactCast(value, to: Data.self) {
            self = .bytes(data)
        } else if let references = exactCast(value, to: [CKRecord.Reference].self) {
            self = .list(references.map { .reference($0) })
        } else if let array = value as? [String] {
            self = .list(array.map { .string($0) })
        } else {
            self = FieldValue(object: value)
        }
    }

    /// Returns the value as a stated type; nil if it is of another type, or a number that does not
    /// fit.
    func value<Value>(as type: Value.Type) -> Value? {
        switch self {
        case .string(let string): return Self.cast(string, to: type)
        case .int64(let integer):
            if Value.self == Int64.self { return exactCast(integer, to: type) }
            if Value.self == Int.self { return exactCast(Int(integer), to: type) }
            return Self.number(integer, as: type)
        case .double(let double):
            if Value.self == Double.self { return exactCast(double, to: type) }
            return Self.number(double, as: type)
        case .unsigned(let integer): return Self.number(integer, as: type)
        case .date(let date): return Self.cast(date, to: type)
        case .bytes(let data): return Self.cast(data, to: type)
        case .reference(let reference): return reference as? Value
        case .asset(let asset): return asset as? Value
        case .location(let location): return location as? Value
        case .list(let values): return Self.array(values, as: type)
        }
    }

    /// Casts directly to the value's own type, the most frequent case, otherwise dynamically.
    @inline(__always)
    private static func cast<Known, Value>(_ value: Known, to type: Value.Type) -> Value? {
        // The types are compared here too, because unwrapping the optional of `exactCast` takes
        // longer.
        Known.self == Value.self ? exactCast(value, to: type) : value as? Value
    }

    private static func number<Value>(_ integer: some BinaryInteger, as type: Value.Type) -> Value?
    {
        switch type {
        case is Bool.Type: (integer == 0 ? false : integer == 1 ? true : nil) as? Value
        case is Double.Type: Double(exactly: integer) as? Value
        case is Float.Type: Float(exactly: integer) as? Value
        case let integerType as any FixedWidthInteger.Type:
            integerType.init(exactly: integer) as? Value
        default:
            (Int64(exactly: integer).map { NSNumber(value: $0) }
                ?? UInt64(exactly: integer).map { NSNumber(value: $0) }) as? Value
        }
    }

    private static func number<Value>(_ double: Double, as type: Value.Type) -> Value? {
        switch type {
        case is Float.Type: Float(double) as? Value
        case let integerType as any FixedWidthInteger.Type:
            integerType.init(exactly: double) as? Value
        default: NSNumber(value: double) as? Value
        }
    }

    private static func array<Value>(_ values: [FieldValue], as type: Value.Type) -> Value? {
        if let listable = type as? any FieldList.Type {
            return listable.list(of: values) as? Value
        }
        return objects(of: values) as? Value
    }

    private static func objects(of values: [FieldValue]) -> NSArray {
        NSArray(array: values.map(\.object))
    }
}

/// An array type whose elements can be read from field values one by one.
private protocol FieldList {
    static func list(of values: [FieldValue]) -> Self?
}

extension Array: FieldList {
    static func list(of values: [FieldValue]) -> [Element]? {
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = value.value(as: Element.self) else { return nil }
            elements.append(element)
        }
        return elements
    }
}
