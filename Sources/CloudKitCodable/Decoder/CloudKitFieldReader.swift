public import CloudKit

/// Reads the fields of a record for a model's mapping.
///
/// Plain values are read from their fields; all other values, and missing fields, take the same path
/// as in `init(from:)`.
public struct CloudKitFieldReader {
    @usableFromInline let record: CKRecord

    private let model: any CloudKitModel.Type
    private let decoder: CloudKitRecordDecoder?

    /// Created for the first value that is not plain.
    private var decoding: RecordDecoding?

    /// Creates the reader of one record.
    init(
        _ record: CKRecord,
        _ model: any CloudKitModel.Type,
        _ decoder: CloudKitRecordDecoder
    ) {
        self.record = record
        self.model = model
        self.decoder = decoder
    }

    /// Creates the reader of a decoding that has begun.
    init(_ decoding: RecordDecoding, _ model: any CloudKitModel.Type) {
        record = decoding.record
        self.model = model
        decoder = nil
        self.decoding = decoding
    }

    /// Returns the decoding of all values that are not plain.
    private mutating func resolved() -> RecordDecoding {
        if let decoding { return decoding }
        let made = RecordDecoding(
            record: record,
            forms: .native,
            userInfo: decoder?.userInfo ?? [:],
            options: model.fields.byKey
        )
        decoding = made
        return made
    }

    // MARK: Plain fields

    /// Reads a plain value from a field for which the model specifies at most a name.
    @inlinable
    public mutating func read<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value {
        if let value = record.field(name, as: type) { return value }
        return try plain(type, key)
    }

    /// Reads a plain value; nil when the field has none.
    @inlinable
    public mutating func read<Value: CloudKitPlainValue>(
        _ type: Value?.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        if let value = record.field(name, as: Value.self) { return value }
        return try plainIfPresent(Value.self, key)
    }

    /// Reads a value of any type.
    @inlinable
    public mutating func read<Value: Decodable>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value {
        try decode(type, forKey: key)
    }

    /// Reads a value of any type; nil when the field has none.
    @inlinable
    public mutating func read<Value: Decodable>(
        _ type: Value?.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        try decode(type, forKey: key)
    }

    /// Reads a wrapped optional; nil when the field has no value.
    @inlinable
    public mutating func read<Value>(
        _ type: CloudKitValue<Value?>.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> CloudKitValue<Value?> {
        try decode(type, forKey: key)
    }

    /// Reads a plain value; nil when the field has none, so that the property keeps its default.
    @inlinable
    public mutating func readIfPresent<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        if let value = record.field(name, as: type) { return value }
        return try plainIfPresent(type, key)
    }

    /// Reads a value of any type; nil when the field has none, so that the property keeps its
    /// default.
    @inlinable
    public mutating func readIfPresent<Value: Decodable>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        try decodeIfPresent(type, forKey: key)
    }

    /// Reads an optional, for which nil is an ordinary value.
    @inlinable
    public mutating func readIfPresent<Value: Decodable>(
        _ type: Value?.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value?? {
        .some(try decode(type, forKey: key))
    }

    @usableFromInline
    mutating func plain<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value {
        try container(key).decode(type, as: key)
    }

    @usableFromInline
    mutating func plainIfPresent<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value? {
        try container(key).decodeIfPresent(type, as: key)
    }

    // MARK: Other fields

    /// Reads a value with the storage that ``CloudKitModel/fields`` specifies for its key.
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type,
        forKey key: some CodingKey
    ) throws -> Value {
        try container(key).decode(type, as: key)
    }

    /// Reads a value with the storage that ``CloudKitModel/fields`` specifies for its key; nil when
    /// there is none.
    public mutating func decode<Value: Decodable>(
        _ type: Value?.Type,
        forKey key: some CodingKey
    ) throws -> Value? {
        try container(key).decodeIfPresent(Value.self, as: key)
    }

    /// Reads a wrapped optional with the storage that ``CloudKitModel/fields`` specifies for its key.
    public mutating func decode<Value>(
        _ type: CloudKitValue<Value?>.Type,
        forKey key: some CodingKey
    ) throws -> CloudKitValue<Value?> {
        try container(key).decodeIfPresent(type, as: key) ?? CloudKitValue(wrappedValue: nil)
    }

    /// Reads a value with the storage that ``CloudKitModel/fields`` specifies for its key; nil when
    /// there is none, so that the property keeps its default.
    public mutating func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        forKey key: some CodingKey
    ) throws -> Value? {
        let decoding = resolved()
        // For a list of children, no children are a value.
        if decoding.graph != nil, FieldKind.of(type) == .modelList,
            case .children? = decoding.options?[key.stringValue]?.relation
        {
            return try decode(type, forKey: key)
        }
        return try container(key).decodeIfPresent(type, as: key)
    }

    /// Reads an optional, for which nil is an ordinary value.
    public mutating func decodeIfPresent<Value: Decodable>(
        _ type: Value?.Type,
        forKey key: some CodingKey
    ) throws -> Value?? {
        .some(try decode(type, forKey: key))
    }

    private mutating func container<Key: CodingKey>(
        _ key: Key
    ) -> RecordKeyedDecodingContainer<Key> {
        RecordKeyedDecodingContainer(decoding: resolved())
    }

    // MARK: The record's name

    /// Reads the record's name, for the property that holds it.
    public mutating func recordName(_ key: some CodingKey) throws -> String {
        record.recordID.recordName
    }

    /// Reads the record's name, for the property that holds it.
    public mutating func recordName(_ key: some CodingKey) throws -> UUID {
        if let name = UUID(uuidString: record.recordID.recordName) { return name }
        return try decode(UUID.self, forKey: key)
    }
}

// A generic caller reaches only the generic method, where `init(from:)` has one for each scalar.
extension RecordKeyedDecodingContainer {
    /// Returns the value of a key, read by the method for its type.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type, as key: Key) throws -> Value {
        guard let scalar = type as? any (CKRecordValueProtocol & Decodable).Type,
            FieldScalar.isPlain(type), type != Date.self, type != Data.self,
            let value = try decoding.scalar(scalar, key) as? Value
        else { return try decode(type, forKey: key) }
        return value
    }

    /// Returns the value of a key, read by the method for its type; nil when there is none.
    fileprivate func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        as key: Key
    ) throws -> Value? {
        guard let scalar = type as? any (CKRecordValueProtocol & Decodable).Type,
            FieldScalar.isPlain(type), type != Date.self, type != Data.self
        else { return try decodeIfPresent(type, forKey: key) }
        return try decoding.scalarIfPresent(scalar, key).flatMap { $0 as? Value }
    }
}
