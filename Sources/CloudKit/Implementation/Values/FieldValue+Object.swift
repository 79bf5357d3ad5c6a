import CoreLocation
import Foundation

extension FieldValue {
    /// Creates a field value from a value of a type known only at run time, for the untyped
    /// subscript and lists.
    ///
    /// - Important: Ends the process for a value that no record can hold (a dictionary, a nested
    ///   list, an app's type with a conformance), where Apple's framework raises an exception.
    init(object: Any) {
        guard let value = FieldValue(exactly: object) else {
            preconditionFailure(
                """
                CKRecord: a value of type \(type(of: object)) cannot be stored; a field holds \
                String, numbers, Date, Data, CLLocation, CKAsset, CKRecord.Reference, or a list \
                of one of them
                """
            )
        }
        self = value
    }

    /// Creates a field value; nil if no record can hold it.
    init?(exactly object: Any) {
        switch object {
        case let string as String: self = .string(string)
        case let date as Date: self = .date(date)
        case let data as Data: self = .bytes(data)
        case let reference as CKRecord.Reference: self = .reference(reference)
        case let asset as CKAsset: self = .asset(asset)
        case let location as CLLocation: self = .location(location)
        case let bool as Bool where type(of: object) == Bool.self: self = .int64(bool ? 1 : 0)
        case let integer as any FixedWidthInteger: self = Self.integer(integer)
        case let float as Float where type(of: object) == Float.self: self = .double(Double(float))
        case let double as Double where type(of: object) == Double.self: self = .double(double)
        case let number as NSNumber: self = Self.number(number)
        case let values as [Any]: self.init(elements: values)
        default: return nil
        }
    }

    private init?(elements: [Any]) {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard let value = FieldValue(exactly: element) else { return nil }
            if case .list = value { return nil }
            values.append(value)
        }
        self = .list(values)
    }

    private static func integer(_ integer: some FixedWidthInteger) -> FieldValue {
        Int64(exactly: integer).map { .int64($0) } ?? .unsigned(UInt64(truncatingIfNeeded: integer))
    }

    private static func number(_ number: NSNumber) -> FieldValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .double(number.doubleValue)
        case UInt8(ascii: "Q"): integer(number.uint64Value)
        default: .int64(number.int64Value)
        }
    }
}
