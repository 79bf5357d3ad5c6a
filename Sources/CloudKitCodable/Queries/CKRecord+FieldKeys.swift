public import CloudKit

// Access to one field of a record, without the rest of its model.
extension CKRecord {
    /// Returns the value of one property of a model.
    ///
    /// - Throws: `DecodingError` when the field is empty or holds another type.
    public func value<Model: CloudKitModel, Value: Decodable>(
        of key: CloudKitFieldKey<Model, Value>
    ) throws -> Value {
        try container(key).decode(Value.self, forKey: PathKey(key.property))
    }

    /// Returns the value of one optional property of a model; nil when the field is empty.
    ///
    /// - Throws: `DecodingError` when the field holds another type.
    public func value<Model: CloudKitModel, Value: Decodable>(
        of key: CloudKitFieldKey<Model, Value?>
    ) throws -> Value? {
        try container(key).decodeIfPresent(Value.self, forKey: PathKey(key.property))
    }

    /// Sets one property of a model; nil clears the field.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func set<Model: CloudKitModel, Value: Encodable>(
        _ value: Value,
        of key: CloudKitFieldKey<Model, Value>
    ) throws {
        let encoding = RecordEncoding(
            record: self,
            baseline: .values,
            forms: .native,
            options: key.options.map { [key.property: $0] } ?? [:]
        )
        try encoding.store(value, forKey: PathKey(key.property))
        try encoding.finish()
    }

    private func container<Model, Value>(
        _ key: CloudKitFieldKey<Model, Value>
    ) -> RecordKeyedDecodingContainer<PathKey> {
        RecordKeyedDecodingContainer(
            decoding: RecordDecoding(
                record: self,
                forms: .native,
                options: key.options.map { [key.property: $0] } ?? [:]
            )
        )
    }
}
