import CloudKit

/// Runs a value's own `encode(to:)` once, to determine the kind of the value.
///
/// A value that requests a single-value container is stored as the contents of the container; one
/// that requests keys or positions is a structure and becomes JSON, and its present contents are
/// discarded.
final class FieldProbe: Encoder {
    private let store: ((any Encodable)?) throws -> Void
    private(set) var isStructure = false

    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    /// Creates a probe that passes on the contents of a single-value container, nil for null.
    init(
        path: [any CodingKey] = [],
        userInfo: [CodingUserInfoKey: Any] = [:],
        store: @escaping ((any Encodable)?) throws -> Void
    ) {
        codingPath = path
        self.userInfo = userInfo
        self.store = store
    }

    /// Returns whether a value is stored as something other than a structure.
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
            // The error occurs again when the value is stored.
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

/// Passes on the contents of a single-value container.
private struct ProbeSingleValueContainer: SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    let store: ((any Encodable)?) throws -> Void

    func encodeNil() throws { try store(nil) }
    func encode<Value: Encodable>(_ value: Value) throws { try store(value) }
}

/// Discards its contents.
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

/// Discards its contents.
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
