/// An encoder that records the keys of a value and the types of their values, including properties
/// without a value.
struct PropertyListing: Encoder {
    /// The recorded properties, in order.
    final class Page {
        private(set) var properties: [KnownProperty] = []

        /// Records a property; the first one of a key counts.
        func note(_ key: any CodingKey, _ type: Any.Type) {
            if properties.contains(where: { $0.key == key.stringValue }) { return }
            properties.append(KnownProperty(key.stringValue, type))
        }
    }

    let page: Page

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedPropertyListing(listing: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        page.note(RecordField.valueKey, Structure.self)
        return FieldTree(path: [], userInfo: [:]).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SinglePropertyListing(listing: self)
    }

    /// The type of a container within the value.
    struct Structure {}
}

private struct KeyedPropertyListing<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let listing: PropertyListing

    var codingPath: [any CodingKey] { [] }

    private func note(_ type: Any.Type, _ key: any CodingKey) { listing.page.note(key, type) }

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { note(Value.self, key) }

    // The protocol's own versions encode nothing when there is no value.
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
        note(PropertyListing.Structure.self, key)
        return FieldTree(path: [], userInfo: [:]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        note(PropertyListing.Structure.self, key)
        return FieldTree(path: [], userInfo: [:]).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { listing }

    func superEncoder(forKey key: Key) -> any Encoder {
        note(PropertyListing.Structure.self, key)
        return FieldTree(path: [], userInfo: [:])
    }
}

private struct SinglePropertyListing: SingleValueEncodingContainer {
    let listing: PropertyListing

    var codingPath: [any CodingKey] { [] }

    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        if FieldKind.of(Value.self) == .other, !FieldProbe.isScalar(value) {
            try value.encode(to: listing)
        } else {
            listing.page.note(RecordField.valueKey, Value.self)
        }
    }
}
