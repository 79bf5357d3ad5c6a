import Foundation

/// Lossless conversions of a field's value into Swift's scalars.
enum FieldScalar {
    /// Returns whether containers have a method of their own for a type.
    static func isPlain(_ type: Any.Type) -> Bool {
        type == String.self || type == Bool.self || type == Double.self || type == Float.self
            || type is any FixedWidthInteger.Type
    }

    /// Returns the object as a type; nil when it has another type, or is a number that does not fit.
    static func value<Value>(_ object: Any, as type: Value.Type) -> Value? {
        if let number = object as? NSNumber { return self.number(number, as: type) }
        return object as? Value
    }

    private static func number<Value>(_ number: NSNumber, as type: Value.Type) -> Value? {
        switch type {
        case is Bool.Type:
            switch number {
            case 0: false as? Value
            case 1: true as? Value
            default: nil
            }
        case is Double.Type: number.doubleValue as? Value
        case is Float.Type: number.floatValue as? Value
        case let integer as any FixedWidthInteger.Type: exact(number, integer) as? Value
        default: number as? Value
        }
    }

    private static func exact<Integer: FixedWidthInteger>(
        _ number: NSNumber,
        _ type: Integer.Type
    ) -> Integer? {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): Integer(exactly: number.doubleValue)
        case UInt8(ascii: "Q"): Integer(exactly: number.uint64Value)
        default: Integer(exactly: number.int64Value)
        }
    }
}
