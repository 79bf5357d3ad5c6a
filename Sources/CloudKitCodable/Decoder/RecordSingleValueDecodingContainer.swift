import CloudKit

/// A value that is decoded from a record as a whole: a wrapped structure from the record's fields, a
/// scalar or a list from the field `value`.
struct RecordSingleValueDecodingContainer: SingleValueDecodingContainer {
    let decoding: RecordDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }

    func decodeNil() -> Bool { decoding.isEmpty }

    func decode(_ type: Bool.Type) throws -> Bool {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: String.Type) throws -> String {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Double.Type) throws -> Double {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Float.Type) throws -> Float {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int.Type) throws -> Int {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int8.Type) throws -> Int8 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int16.Type) throws -> Int16 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int32.Type) throws -> Int32 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int64.Type) throws -> Int64 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: UInt.Type) throws -> UInt {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try decoding.scalar(type, RecordField.valueKey)
    }

    func decode(_ type: Int128.Type) throws -> Int128 {
        try decoding.checkedScalar(type, decoding.field(RecordField.valueKey))
    }

    func decode(_ type: UInt128.Type) throws -> UInt128 {
        try decoding.checkedScalar(type, decoding.field(RecordField.valueKey))
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let field = decoding.field(RecordField.valueKey)
        if decoding.hasValue(field) {
            decoding.note(field.name, Value.self, isOptional: false)
            return try decoding.value(type, field)
        }
        return try Value(from: decoding)
    }
}
