import Foundation

/// A container within a record, collected until it can be written as JSON.
final class FieldTree: Encoder, Encodable {
    private enum Contents {
        case nothing
        case null
        case value(any Encodable)
        case keyed([(key: String, tree: FieldTree)])
        case unkeyed([FieldTree])
    }

    private var contents = Contents.nothing
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]

    init(path: [any CodingKey], userInfo: [CodingUserInfoKey: Any]) {
        codingPath = path
        self.userInfo = userInfo
    }

    // MARK: Encoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .keyed = contents {} else { contents = .keyed([]) }
        return KeyedEncodingContainer(FieldTreeKeyedContainer<Key>(tree: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .unkeyed = contents {} else { contents = .unkeyed([]) }
        return FieldTreeUnkeyedContainer(tree: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        FieldTreeSingleValueContainer(tree: self)
    }

    // MARK: Filling in

    /// The number of elements of an unkeyed tree.
    var count: Int {
        if case .unkeyed(let trees) = contents { trees.count } else { 0 }
    }

    /// Replaces the contents by a value, or by null.
    func set(_ value: (any Encodable)?) {
        contents = value.map { .value($0) } ?? .null
    }

    /// Returns a new tree under a key, replacing any other.
    func child(_ key: any CodingKey) -> FieldTree {
        let tree = FieldTree(path: codingPath + [key], userInfo: userInfo)
        if case .keyed(var trees) = contents {
            contents = .nothing
            trees.removeAll { $0.key == key.stringValue }
            trees.append((key.stringValue, tree))
            contents = .keyed(trees)
        }
        return tree
    }

    /// Appends a new tree.
    func nextChild() -> FieldTree {
        let tree = FieldTree(path: codingPath + [PathKey(index: count)], userInfo: userInfo)
        if case .unkeyed(var trees) = contents {
            contents = .nothing
            trees.append(tree)
            contents = .unkeyed(trees)
        }
        return tree
    }

    // MARK: Encodable

    /// Encodes the collected contents into another encoder.
    func encode(to encoder: any Encoder) throws {
        switch contents {
        case .nothing: break
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .value(let value):
            // Not by its own `encode(to:)`, because JSON has its own forms for URLs, data and
            // decimals.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .keyed(let trees):
            var container = encoder.container(keyedBy: PathKey.self)
            for (key, tree) in trees { try container.encode(tree, forKey: PathKey(key)) }
        case .unkeyed(let trees):
            var container = encoder.unkeyedContainer()
            for tree in trees { try container.encode(tree) }
        }
    }
}

private struct FieldTreeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let tree: FieldTree

    var codingPath: [any CodingKey] { tree.codingPath }

    func encodeNil(forKey key: Key) { tree.child(key).set(nil) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { tree.child(key).set(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        tree.child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        tree.child(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { tree.child(PathKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { tree.child(key) }
}

private struct FieldTreeUnkeyedContainer: UnkeyedEncodingContainer {
    let tree: FieldTree

    var codingPath: [any CodingKey] { tree.codingPath }
    var count: Int { tree.count }

    func encodeNil() { tree.nextChild().set(nil) }
    func encode<Value: Encodable>(_ value: Value) { tree.nextChild().set(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        tree.nextChild().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        tree.nextChild().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { tree.nextChild() }
}

private struct FieldTreeSingleValueContainer: SingleValueEncodingContainer {
    let tree: FieldTree

    var codingPath: [any CodingKey] { tree.codingPath }

    func encodeNil() { tree.set(nil) }
    func encode<Value: Encodable>(_ value: Value) { tree.set(value) }
}
