public import CloudKit

/// The fields of a record, as the mapping of a model reads them.
///
/// Plain values are read from their fields; whatever needs more, a missing field among them, goes
/// through the same code as in `init(from:)`.
public struct CloudKitFieldReader {
    @usableFromInline let record: CKRecord

    private let model: any CloudKitModel.Type
    private let decoder: CloudKitRecordDecoder?

    /// Made for the first value that is not plain.
    private var decoding: RecordDecoding?

    /// Makes the reader of one record.
    init(
        _ record: CKRecord,
        _ model: any CloudKitModel.Type,
        _ decoder: CloudKitRecordDecoder
    ) {
        self.record = record
        self.model = model
        self.decoder = decoder
    }

    /// Makes the reader of a decoding that has begun.
    init(_ decoding: RecordDecoding, _ model: any CloudKitModel.Type) {
        record = decoding.record
        self.model = model
        decoder = nil
        self.decoding = decoding
    }

    /// The decoding of all that is not plain.
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

    /// Reads a plain value from a field about which the model says nothing but its name.
    @inlinable
    public mutating func read<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value {
        if let value = record.field(name, as: type) { return value }
        return try plain(type, key)
    }

    /// Reads a plain value; nil when there is none.
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

    /// Reads a value of any type; nil when there is none.
    @inlinable
    public mutating func read<Value: Decodable>(
        _ type: Value?.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        try decode(type, forKey: key)
    }

    /// Reads a wrapped optional; nil when there is nothing in the field.
    @inlinable
    public mutating func read<Value>(
        _ type: CloudKitValue<Value?>.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> CloudKitValue<Value?> {
        try decode(type, forKey: key)
    }

    /// Reads a plain value; nil when there is none, so that the declaration's value stays.
    @inlinable
    public mutating func readIfPresent<Value: CloudKitPlainValue>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        if let value = record.field(name, as: type) { return value }
        return try plainIfPresent(type, key)
    }

    /// Reads a value of any type; nil when there is none, so that the declaration's value stays.
    @inlinable
    public mutating func readIfPresent<Value: Decodable>(
        _ type: Value.Type,
        _ name: String,
        _ key: some CodingKey
    ) throws -> Value? {
        try decodeIfPresent(type, forKey: key)
    }

    /// Reads an optional, of which nil is a value like others.
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

    /// Reads a value as ``CloudKitModel/fields`` says for its key.
    public mutating func decode<Value: Decodable>(
        _ type: Value.Type,
        forKey key: some CodingKey
    ) throws -> Value {
        try container(key).decode(type, as: key)
    }

    /// Reads a value as ``CloudKitModel/fields`` says for its key; nil when there is none.
    public mutating func decode<Value: Decodable>(
        _ type: Value?.Type,
        forKey key: some CodingKey
    ) throws -> Value? {
        try container(key).decodeIfPresent(Value.self, as: key)
    }

    /// Reads a wrapped optional as ``CloudKitModel/fields`` says for its key.
    public mutating func decode<Value>(
        _ type: CloudKitValue<Value?>.Type,
        forKey key: some CodingKey
    ) throws -> CloudKitValue<Value?> {
        try container(key).decodeIfPresent(type, as: key) ?? CloudKitValue(wrappedValue: nil)
    }

    /// Reads a value as ``CloudKitModel/fields`` says for its key; nil when there is none, so that
    /// the declaration's value stays.
    public mutating func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        forKey key: some CodingKey
    ) throws -> Value? {
        let decoding = resolved()
        // No children are a value of a list of children.
        if decoding.graph != nil, FieldKind.of(type) == .modelList,
            case .children? = decoding.options?[key.stringValue]?.relation
        {
            return try decode(type, forKey: key)
        }
        return try container(key).decodeIfPresent(type, as: key)
    }

    /// Reads an optional, of which nil is a value like others.
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

    /// The record's name, for the property that is it.
    public mutating func recordName(_ key: some CodingKey) throws -> String {
        record.recordID.recordName
    }

    /// The record's name, for the property that is it.
    public mutating func recordName(_ key: some CodingKey) throws -> UUID {
        if let name = UUID(uuidString: record.recordID.recordName) { return name }
        return try decode(UUID.self, forKey: key)
    }
}

// A generic caller reaches the generic method only, where `init(from:)` has one for each scalar.
extension RecordKeyedDecodingContainer {
    /// The value of a key, read as the method for its type reads it.
    fileprivate func decode<Value: Decodable>(_ type: Value.Type, as key: Key) throws -> Value {
        guard let scalar = type as? any (CKRecordValueProtocol & Decodable).Type,
            FieldScalar.isPlain(type), type != Date.self, type != Data.self,
            let value = try decoding.scalar(scalar, key) as? Value
        else { return try decode(type, forKey: key) }
        return value
    }

    /// The value of a key, read as the method for its type reads it; nil when there is none.
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
