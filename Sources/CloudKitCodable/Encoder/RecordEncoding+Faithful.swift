import CloudKit
import Foundation

// A record has one kind of whole number: a type that is a number one time and a truth value another
// would come back as the wrong one.
extension RecordEncoding {
    /// Checks that a value which codes itself as a number is read as a number of that kind.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - scalar: What it codes itself as.
    ///   - field: The field.
    /// - Throws: `EncodingError.invalidValue` when it would come back as another kind.
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
        guard let read = try? type.init(from: decoding), let other = Self.scalar(of: read),
            Swift.type(of: other) != Swift.type(of: scalar)
        else { return }
        throw error(
            number,
            field.key,
            """
            a \(Value.self) with a \(Swift.type(of: scalar)) would come back with a \
            \(Swift.type(of: other)), because a record does not tell them apart; say .json for \
            the key in 'fields'
            """
        )
    }

    /// A number as a record hands it out; nil for what is none.
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

    /// What a value codes itself as; nil for a structure.
    private static func scalar(of value: some Encodable) -> (any Encodable)? {
        var scalar: (any Encodable)?
        let probe = FieldProbe { scalar = $0 }
        try? value.encode(to: probe)
        return probe.isStructure ? nil : scalar
    }
}
