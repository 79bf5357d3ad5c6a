/// A decoder of nothing, from which a property wrapper around an optional, or another type that
/// accepts null, is decoded when the field is absent.
final class NullDecoding: Decoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    /// `true` when a single value was requested; otherwise the null was not read.
    private(set) var isAsked = false

    private init(_ path: [any CodingKey], _ userInfo: [CodingUserInfoKey: Any]) {
        codingPath = path
        self.userInfo = userInfo
    }

    /// Returns the value that a type decodes from a null; nil when it accepts none.
    static func value<Value: Decodable>(
        _ type: Value.Type,
        path: [any CodingKey],
        userInfo: [CodingUserInfoKey: Any]
    ) -> Value? {
        let decoding = NullDecoding(path, userInfo)
        // A type that does not accept null decodes nothing.
        guard let value = try? Value(from: decoding), decoding.isAsked else { return nil }
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw nothing([String: String].self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw nothing([String].self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        isAsked = true
        return NullContainer(decoding: self)
    }

    fileprivate func nothing(_ type: Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            .init(codingPath: codingPath, debugDescription: "the field has no value")
        )
    }
}

private struct NullContainer: SingleValueDecodingContainer {
    let decoding: NullDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }

    func decodeNil() -> Bool { true }

    private static func isScalar(_ type: Any.Type) -> Bool {
        type == String.self || type == Bool.self || type is any BinaryInteger.Type
            || type is any BinaryFloatingPoint.Type
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // A scalar would request itself endlessly.
        if Self.isScalar(type) { throw decoding.nothing(type) }
        switch FieldKind.of(type) {
        case .optional, .other: return try Value(from: decoding)
        default: throw decoding.nothing(type)
        }
    }
}
