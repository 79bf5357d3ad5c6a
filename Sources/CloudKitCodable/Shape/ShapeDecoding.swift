/// A decoder that writes down the keys and types it is asked for, and answers with placeholders.
struct ShapeDecoding: Decoder {
    /// What was asked for at the top level.
    final class Recorder {
        /// Whether a single value was asked for.
        var isSingleValue = false

        private(set) var asked: [(key: String, type: Any.Type, isOptional: Bool)] = []

        /// Notes a question; the first about a key counts.
        func note(_ key: any CodingKey, _ type: Any.Type, isOptional: Bool) {
            guard !asked.contains(where: { $0.key == key.stringValue }) else { return }
            asked.append((key.stringValue, type, isOptional))
        }
    }

    /// Nil below the top level, where nothing is written down.
    let recorder: Recorder?
    var depth = 0

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// A decoder of a value within the one being decoded.
    var inner: ShapeDecoding { ShapeDecoding(recorder: nil, depth: depth + 1) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try checkDepth()
        return KeyedDecodingContainer(ShapeKeyedContainer(decoding: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try checkDepth()
        recorder?.note(RecordEncoding.valueKey, [String].self, isOptional: false)
        return ShapeUnkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try checkDepth()
        return ShapeSingleValueContainer(decoding: self)
    }

    /// A type that needs a value of itself has no placeholder.
    private func checkDepth() throws {
        if depth > 32 { throw Self.noPlaceholder("a value within itself") }
    }

    static func noPlaceholder(_ type: Any) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "no placeholder for \(type)"))
    }
}

private struct ShapeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: ShapeDecoding

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    /// Everything is there, so that everything is asked for.
    func contains(_ key: Key) -> Bool { true }
    /// Nothing is null, so that optional scalars are asked for by their type.
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        decoding.recorder?.note(key, type, isOptional: false)
        return try Placeholder.value(type, decoding.inner)
    }

    func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        forKey key: Key
    ) throws -> Value? {
        decoding.recorder?.note(key, type, isOptional: true)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        decoding.recorder?.note(key, [String: String].self, isOptional: false)
        return try decoding.inner.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        decoding.recorder?.note(key, [[String: String]].self, isOptional: false)
        return ShapeUnkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoding }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoding.recorder?.note(key, [String: String].self, isOptional: false)
        return decoding.inner
    }
}

private struct ShapeUnkeyedContainer: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    mutating func decodeNil() throws -> Bool { true }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        throw ShapeDecoding.noPlaceholder(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        throw ShapeDecoding.noPlaceholder(type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { self }

    mutating func superDecoder() throws -> any Decoder {
        throw ShapeDecoding.noPlaceholder("an element")
    }
}

private struct ShapeSingleValueContainer: SingleValueDecodingContainer {
    let decoding: ShapeDecoding

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let recorder = decoding.recorder, FieldKind.of(type) == .other,
            !Placeholder.isScalar(type)
        else {
            decoding.recorder?.isSingleValue = true
            decoding.recorder?.note(RecordEncoding.valueKey, type, isOptional: false)
            return try Placeholder.value(type, decoding.inner)
        }
        return try Value(from: ShapeDecoding(recorder: recorder, depth: decoding.depth + 1))
    }
}
