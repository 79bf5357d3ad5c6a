import CloudKit

/// The container through which `init(from:)` reads the fields of a record.
struct RecordKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: RecordDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }
    var allKeys: [Key] { decoding.allKeys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { decoding.hasValue(decoding.field(key)) }
    func decodeNil(forKey key: Key) -> Bool { decoding.isNil(decoding.field(key)) }

    // MARK: Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try decoding.scalar(type, key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try decoding.scalar(type, key)
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try decoding.scalar(type, key)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try decoding.checkedScalar(type, decoding.field(key))
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try decoding.checkedScalar(type, decoding.field(key))
    }

    // MARK: Values

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoding.value(type, key)
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        decoding.note(key.stringValue, Void.self, isOptional: false)
        return try decoding.decoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        decoding.note(key.stringValue, Void.self, isOptional: false)
        return try decoding.decoder(for: key).unkeyedContainer()
    }

    /// Returns the record's decoder: a class and its superclass share the record.
    func superDecoder() -> any Decoder { decoding }

    /// Returns the decoder of a key's value; the record's own when there is none.
    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoding.note(key.stringValue, Void.self, isOptional: false)
        return contains(key) ? try decoding.decoder(for: key) : decoding
    }
}
