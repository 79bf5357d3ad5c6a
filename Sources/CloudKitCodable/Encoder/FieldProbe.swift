import CloudKit

/// Runs a value's own `encode(to:)` once, to learn what it is.
///
/// A value that asks for a single-value container is what it puts there, and is stored as that; one
/// that asks for keys or positions is a structure, and becomes JSON: what it puts there now is
/// thrown away.
final class FieldProbe: Encoder {
    private let store: ((any Encodable)?) throws -> Void
    private(set) var isStructure = false

    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    /// Makes a probe that hands on the value of a single-value container, nil for null.
    init(
        path: [any CodingKey] = [],
        userInfo: [CodingUserInfoKey: Any] = [:],
        store: @escaping ((any Encodable)?) throws -> Void
    ) {
        codingPath = path
        self.userInfo = userInfo
        self.store = store
    }

    /// Whether a value is stored as something else than a structure.
    static func isScalar(_ value: some Encodable) -> Bool {
        let probe = FieldProbe { value in
            if let value, FieldKind.of(type(of: value)) == .other, !isScalar(value) {
                throw Structure()
            }
        }
        do {
            try value.encode(to: probe)
            return !probe.isStructure
        } catch is Structure {
            return false
        } catch {
            // The error comes again when the value is stored.
            return true
        }
    }

    private struct Structure: Error {}

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isStructure = true
        return KeyedEncodingContainer(DiscardingKeyedContainer(codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isStructure = true
        return DiscardingUnkeyedContainer(codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ProbeSingleValueContainer(codingPath: codingPath, store: store)
    }
}

/// Hands on what is put into a single-value container.
private struct ProbeSingleValueContainer: SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    let store: ((any Encodable)?) throws -> Void

    func encodeNil() throws { try store(nil) }
    func encode<Value: Encodable>(_ value: Value) throws { try store(value) }
}

/// Forgets what is put into it.
private struct DiscardingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) {}

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(DiscardingKeyedContainer<Nested>(codingPath: codingPath))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        DiscardingUnkeyedContainer(codingPath: codingPath)
    }

    func superEncoder() -> any Encoder { FieldProbe { _ in } }
    func superEncoder(forKey key: Key) -> any Encoder { FieldProbe { _ in } }
}

/// Forgets what is put into it.
private struct DiscardingUnkeyedContainer: UnkeyedEncodingContainer {
    let codingPath: [any CodingKey]
    var count = 0

    mutating func encodeNil() { count += 1 }
    mutating func encode<Value: Encodable>(_ value: Value) { count += 1 }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        count += 1
        return KeyedEncodingContainer(DiscardingKeyedContainer<Nested>(codingPath: codingPath))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return DiscardingUnkeyedContainer(codingPath: codingPath)
    }

    mutating func superEncoder() -> any Encoder {
        count += 1
        return FieldProbe { _ in }
    }
}
