import CloudKit

/// A value that is encoded into a record as a whole: a wrapped structure becomes the record's fields,
/// a scalar or a list its only field, `value`.
struct RecordSingleValueEncodingContainer: SingleValueEncodingContainer {
    let encoding: RecordEncoding

    var codingPath: [any CodingKey] { encoding.codingPath }

    private var field: RecordField { encoding.field(RecordField.valueKey) }

    func encodeNil() throws { try encoding.clear(field) }
    func encode(_ value: Bool) throws { try encoding.store(value, field) }
    func encode(_ value: String) throws { try encoding.store(value, field) }
    func encode(_ value: Double) throws {
        try encoding.store(try encoding.finite(value, field.key), field)
    }

    func encode(_ value: Float) throws { try encode(Double(value)) }
    func encode(_ value: Int) throws { try encoding.store(value, field) }
    func encode(_ value: Int64) throws { try encoding.store(value, field) }
    func encode(_ value: Int8) throws { try encoding.store(Int64(value), field) }
    func encode(_ value: Int16) throws { try encoding.store(Int64(value), field) }
    func encode(_ value: Int32) throws { try encoding.store(Int64(value), field) }
    func encode(_ value: UInt8) throws { try encoding.store(Int64(value), field) }
    func encode(_ value: UInt16) throws { try encoding.store(Int64(value), field) }
    func encode(_ value: UInt32) throws { try encoding.store(Int64(value), field) }

    func encode(_ value: UInt) throws {
        try encoding.store(try encoding.signed(value, field.key), field)
    }

    func encode(_ value: UInt64) throws {
        try encoding.store(try encoding.signed(value, field.key), field)
    }

    func encode(_ value: Int128) throws {
        try encoding.store(try encoding.signed(value, field.key), field)
    }

    func encode(_ value: UInt128) throws {
        try encoding.store(try encoding.signed(value, field.key), field)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        if FieldKind.of(Value.self) == .other, !FieldProbe.isScalar(value) {
            try value.encode(to: encoding)
        } else {
            try encoding.store(value, field)
        }
    }
}
