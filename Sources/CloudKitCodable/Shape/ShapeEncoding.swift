/// An encoder that writes down the keys and types of a value, those of properties without a value
/// as well.
struct ShapeEncoding: Encoder {
    let recorder: ShapeDecoding.Recorder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(ShapeKeyedEncodingContainer(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        recorder.note(RecordEncoding.valueKey, [String: String].self, isOptional: false)
        return FieldTree(path: [], userInfo: [:]).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ShapeSingleValueEncodingContainer(encoding: self)
    }
}

private struct ShapeKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: ShapeEncoding

    var codingPath: [any CodingKey] { [] }

    private func note(_ type: Any.Type, _ key: any CodingKey) {
        encoding.recorder.note(key, type, isOptional: false)
    }

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { note(Value.self, key) }

    // The protocol's own versions ask for nothing when there is no value.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { note(Bool.self, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { note(String.self, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { note(Double.self, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { note(Float.self, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { note(Int.self, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { note(Int8.self, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { note(Int16.self, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { note(Int32.self, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { note(Int64.self, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { note(UInt.self, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { note(UInt8.self, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { note(UInt16.self, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { note(UInt32.self, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { note(UInt64.self, key) }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) {
        note(Value.self, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        note([String: String].self, key)
        return FieldTree(path: [], userInfo: [:]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        note([String: String].self, key)
        return FieldTree(path: [], userInfo: [:]).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoding }

    func superEncoder(forKey key: Key) -> any Encoder {
        note([String: String].self, key)
        return FieldTree(path: [], userInfo: [:])
    }
}

private struct ShapeSingleValueEncodingContainer: SingleValueEncodingContainer {
    let encoding: ShapeEncoding

    var codingPath: [any CodingKey] { [] }

    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        if FieldKind.of(Value.self) == .other, !FieldProbe.isScalar(value) {
            try value.encode(to: encoding)
        } else {
            encoding.recorder.note(RecordEncoding.valueKey, Value.self, isOptional: false)
        }
    }
}
