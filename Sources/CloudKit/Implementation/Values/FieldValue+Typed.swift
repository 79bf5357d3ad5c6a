import CoreLocation
import Foundation

// The typed subscript's way in and out. Comparing metatypes costs a nanosecond where a dynamic cast
// costs fifty, and the cast after a comparison that held cannot fail.
extension FieldValue {
    /// Takes a value whose type is known at the call.
    init<Value: CKRecordValueProtocol>(typed value: Value) {
        if Value.self == String.self {
            self = .string(unsafeBitCast(value, to: String.self))
        } else if Value.self == Int.self {
            self = .int64(Int64(unsafeBitCast(value, to: Int.self)))
        } else if Value.self == Int64.self {
            self = .int64(unsafeBitCast(value, to: Int64.self))
        } else if Value.self == Double.self {
            self = .double(unsafeBitCast(value, to: Double.self))
        } else if Value.self == Bool.self {
            self = .int64(unsafeBitCast(value, to: Bool.self) ? 1 : 0)
        } else if Value.self == Date.self {
            self = .date(unsafeBitCast(value, to: Date.self))
        } else if Value.self == Data.self {
            self = .bytes(unsafeBitCast(value, to: Data.self))
        } else if Value.self == [CKRecord.Reference].self {
            let references = unsafeBitCast(value, to: [CKRecord.Reference].self)
            self = .list(references.map { .reference($0) })
        } else if let array = value as? [String] {
            self = .list(array.map { .string($0) })
        } else {
            self = FieldValue(object: value)
        }
    }

    /// The value as a stated type; nil when it is of another, or a number that does not fit.
    func value<Value>(as type: Value.Type) -> Value? {
        switch self {
        case .string(let string):
            if Value.self == String.self { return unsafeBitCast(string, to: Value.self) }
            return string as? Value
        case .int64(let integer):
            if Value.self == Int64.self { return unsafeBitCast(integer, to: Value.self) }
            if Value.self == Int.self { return unsafeBitCast(Int(integer), to: Value.self) }
            return Self.number(integer, as: type)
        case .double(let double):
            if Value.self == Double.self { return unsafeBitCast(double, to: Value.self) }
            return Self.number(double, as: type)
        case .unsigned(let integer): return Self.number(integer, as: type)
        case .date(let date):
            if Value.self == Date.self { return unsafeBitCast(date, to: Value.self) }
            return date as? Value
        case .bytes(let data):
            if Value.self == Data.self { return unsafeBitCast(data, to: Value.self) }
            return data as? Value
        case .reference(let reference): return reference as? Value
        case .asset(let asset): return asset as? Value
        case .location(let location): return location as? Value
        case .list(let values): return Self.array(values, as: type)
        }
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
