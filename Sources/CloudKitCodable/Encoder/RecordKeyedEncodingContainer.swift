import CloudKit

/// The container through which `encode(to:)` writes the fields of a record.
struct RecordKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: RecordEncoding

    var codingPath: [any CodingKey] { encoding.codingPath }

    // MARK: Scalars

    func encodeNil(forKey key: Key) throws { try encoding.clear(key) }
    func encode(_ value: Bool, forKey key: Key) throws { try encoding.store(value, forKey: key) }
    func encode(_ value: String, forKey key: Key) throws { try encoding.store(value, forKey: key) }
    func encode(_ value: Int, forKey key: Key) throws { try encoding.store(value, forKey: key) }
    func encode(_ value: Int64, forKey key: Key) throws { try encoding.store(value, forKey: key) }

    func encode(_ value: Double, forKey key: Key) throws {
        try encoding.store(try encoding.finite(value, key), forKey: key)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encoding.store(try encoding.finite(Double(value), key), forKey: key)
    }

    func encode(_ value: Int8, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: Int16, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: Int32, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: UInt8, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: UInt16, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: UInt32, forKey key: Key) throws {
        try encoding.store(Int64(value), forKey: key)
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        try encoding.store(try encoding.signed(value, key), forKey: key)
    }

    func encode(_ value: UInt64, forKey key: Key) throws {
        try encoding.store(try encoding.signed(value, key), forKey: key)
    }

    func encode(_ value: Int128, forKey key: Key) throws {
        try encoding.store(try encoding.signed(value, key), forKey: key)
    }

    func encode(_ value: UInt128, forKey key: Key) throws {
        try encoding.store(try encoding.signed(value, key), forKey: key)
    }

    // MARK: Values

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoding.store(value, forKey: key)
    }

    // MARK: Containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoding.tree(for: encoding.field(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoding.tree(for: encoding.field(key)).unkeyedContainer()
    }

    /// Returns the record's encoder: a class and its superclass share the record.
    func superEncoder() -> any Encoder { encoding }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoding.tree(for: encoding.field(key))
    }
}
