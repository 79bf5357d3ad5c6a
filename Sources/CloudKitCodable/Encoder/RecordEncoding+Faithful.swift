import CloudKit
import Foundation

// A record has one kind of whole number: a type that is sometimes a number and sometimes a Boolean
// value would be decoded as the wrong one.
extension RecordEncoding {
    /// Checks that a value that encodes itself as a number is decoded as a number of the same kind.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - scalar: The number as which it encodes itself.
    ///   - field: The field.
    /// - Throws: `EncodingError.invalidValue` when it would be decoded as another kind.
    func check<Value: Encodable>(
        _ value: Value,
        isReadAs scalar: any Encodable,
        _ field: RecordField
    ) throws {
        guard let number = Self.number(scalar), !(Value.self is any RawRepresentable.Type),
            let type = Value.self as? any (Decodable & Encodable).Type
        else { return }
        let decoding = FieldDecoding(
            object: number,
            field: RecordField(name: field.name, key: field.key, options: nil),
            record: RecordDecoding(record: record, forms: .native, userInfo: sendableUserInfo)
        )
        // A type that cannot read its own value back says so when it is decoded.
        guard let read = try? type.init(from: decoding), let other = Self.scalar(of: read),
            Swift.type(of: other) != Swift.type(of: scalar)
        else { return }
        throw error(
            number,
            field.key,
            """
            a \(Value.self) with a \(Swift.type(of: scalar)) would come back with a \
            \(Swift.type(of: other)), because a record does not distinguish them; use .json for \
            the key in 'fields'
            """
        )
    }

    /// Returns a number as a record returns it; nil for other values.
    private static func number(_ scalar: any Encodable) -> NSNumber? {
        switch scalar {
        case let bool as Bool: NSNumber(value: bool ? Int64(1) : 0)
        case let double as Double: NSNumber(value: double)
        case let float as Float: NSNumber(value: Double(float))
        case let integer as any FixedWidthInteger:
            Int64(exactly: integer).map { NSNumber(value: $0) }
        default: nil
        }
    }

    /// Returns the single value as which a value encodes itself; nil for a structure.
    private static func scalar(of value: some Encodable) -> (any Encodable)? {
        var scalar: (any Encodable)?
        let probe = FieldProbe { scalar = $0 }
        // The probe ends the encoding of a structure with an error.
        try? value.encode(to: probe)
        return probe.isStructure ? nil : scalar
    }
}
