public import CloudKit

extension CloudKitRecordDecoder {
    /// All the errors of reading a value from a record, in the order of the properties.
    ///
    /// Decoding ends at the first; this goes on with a placeholder, so that one look shows
    /// everything that is wrong with a record. It ends early only at a type that takes no
    /// placeholder.
    ///
    /// ```swift
    /// for error in CloudKitRecordDecoder().errors(decoding: Person.self, from: record) {
    ///     print(error)
    /// }
    /// ```
    public func errors<T: Decodable>(
        decoding type: T.Type,
        from record: CKRecord
    ) -> [DecodingError] {
        let model = type as? any CloudKitModel.Type
        let decoding = RecordDecoding(
            record: record,
            forms: model == nil ? .original : .native,
            userInfo: userInfo,
            options: model?.fields.byKey ?? [:]
        )
        let log = ErrorLog()
        do {
            switch FieldKind.of(type) {
            case .model, .other: _ = try T(from: LoggingDecoding(decoding: decoding, log: log))
            default: _ = try decoding.value(type, decoding.field(RecordEncoding.valueKey))
            }
        } catch {
            // With errors in the log it is only the end of what placeholders can do.
            if log.errors.isEmpty { log.errors.append(Self.decodingError(error, record)) }
        }
        return log.errors
    }

    private static func decodingError(_ error: any Error, _ record: CKRecord) -> DecodingError {
        if let error = error as? DecodingError { return error }
        return .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription: "\(CodingProblem.place(record)): \(error)",
                underlyingError: error
            )
        )
    }
}

/// The errors that were met.
private final class ErrorLog {
    var errors: [DecodingError] = []
}

/// A decoder of a record that notes errors and goes on.
private struct LoggingDecoding: Decoder {
    let decoding: RecordDecoding
    let log: ErrorLog

    var codingPath: [any CodingKey] { decoding.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { decoding.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(LoggingKeyedContainer(decoding: decoding, log: log))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try decoding.unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        decoding.singleValueContainer()
    }
}

private struct LoggingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: RecordDecoding
    let log: ErrorLog

    var codingPath: [any CodingKey] { decoding.codingPath }
    var allKeys: [Key] { decoding.allKeys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { decoding.hasValue(decoding.field(key)) }
    func decodeNil(forKey key: Key) -> Bool { decoding.isNil(decoding.field(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        do {
            return try decoding.value(type, decoding.field(key))
        } catch let error as DecodingError {
            log.errors.append(error)
            return try Placeholder.value(type, ShapeDecoding(recorder: nil))
        }
    }

    func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        forKey key: Key
    ) throws -> Value? {
        do {
            return try decoding.valueIfPresent(type, key)
        } catch let error as DecodingError {
            log.errors.append(error)
            return nil
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoding.decoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoding.decoder(for: key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { LoggingDecoding(decoding: decoding, log: log) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoding.decoder(for: key) }
}
