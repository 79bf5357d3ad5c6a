import CloudKit
import Foundation

// The hot path: a scalar is read from its field through the typed subscript, unboxed.
extension RecordDecoding {
    /// Returns the scalar under a key.
    @inline(__always)
    func scalar<Value: CKRecordValueProtocol>(
        _ type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value {
        let name = key.stringValue
        note(name, Value.self, isOptional: false)
        if options == nil, let value = record.field(name, as: type) { return value }
        return try checkedScalar(type, field(key))
    }

    /// Returns the scalar under a key; nil when there is none.
    @inline(__always)
    func scalarIfPresent<Value: CKRecordValueProtocol>(
        _ type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value? {
        let name = key.stringValue
        note(name, Value.self, isOptional: true)
        if options == nil, let value = record.field(name, as: type) { return value }
        return try scalarIfPresent(type, field(key))
    }

    /// Returns the scalar in a field; nil when there is none.
    func scalarIfPresent<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value? {
        isNilScalar(field) ? nil : try checkedScalar(type, field)
    }

    /// Returns the scalar in a field, whatever its form there.
    func checkedScalar<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        if field.options?.storage == .recordName || field.name == _CKIdentifierKeyName,
            let name = record.recordID.recordName as? Value
        {
            return name
        }
        if case .asset? = field.options?.storage, let decodable = type as? any Decodable.Type,
            let value = try fileValue(decodable, field) as? Value
        {
            return value
        }
        guard hasValue(field), let object = object(field) else { throw missing(field) }
        if let value = FieldScalar.value(object, as: type) { return value }
        if let value = try textOrBytes(object, field) as? Value { return value }
        if field.options?.storage == .json, let data = object as? Data,
            let decodable = type as? any Decodable.Type,
            let value = try decodeJSON(decodable, data, field) as? Value
        {
            return value
        }
        throw mismatch(type, object, field)
    }

    /// Returns a location or a file as text or bytes, for an API whose types lack them.
    func textOrBytes(_ object: Any, _ field: RecordField) throws -> Any? {
        guard graph?.followsReferences == true else { return nil }
        switch object {
        case let location as CLLocation:
            return "\(location.coordinate.latitude);\(location.coordinate.longitude)"
        case let asset as CKAsset: return try contents(of: asset, field)
        default: return nil
        }
    }

    // MARK: Errors

    /// Returns the error for a field without a value.
    func missing(_ field: RecordField) -> DecodingError {
        let message =
            field.options?.storage == .ignored
            ? """
            \(CodingProblem.place(record)): an ignored property is not in the record; make it \
            optional
            """
            : CodingProblem.missing(field.name, record)
        return .keyNotFound(field.key, .init(codingPath: codingPath, debugDescription: message))
    }

    /// Returns the error for a field that holds another type than the requested one.
    func mismatch(_ type: Any.Type, _ object: Any?, _ field: RecordField) -> DecodingError {
        .typeMismatch(
            type,
            .init(
                codingPath: codingPath + [field.key],
                debugDescription: CodingProblem.mismatch(type, object, field.name, record)
            )
        )
    }

    /// Returns the error for a field whose value has the right type and is invalid.
    func corrupted(_ field: RecordField, _ problem: String) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath + [field.key],
                debugDescription:
                    "\(CodingProblem.place(record)), field \(field.name): \(problem)"
            )
        )
    }
}
