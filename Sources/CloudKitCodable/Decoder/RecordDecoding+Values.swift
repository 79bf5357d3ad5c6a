import CloudKit
import CloudKitBasics
import CloudKitFiles
import Foundation

// Values that are not scalars, by type, in every form in which they were ever stored.
extension RecordDecoding {
    /// Returns the value under a key.
    func value<Value: Decodable>(_ type: Value.Type, _ key: some CodingKey) throws -> Value {
        note(key.stringValue, Value.self, isOptional: false)
        if options == nil, let value = simple(type, key) { return value }
        do {
            return try value(type, field(key))
        } catch {
            failed = (key, error)
            throw error
        }
    }

    /// Returns the value under a key; nil when there is none.
    func valueIfPresent<Value: Decodable>(
        _ type: Value.Type,
        _ key: some CodingKey
    ) throws -> Value? {
        note(key.stringValue, Value.self, isOptional: true)
        if options == nil, let value = simple(type, key) { return value }
        do {
            return try valueIfPresent(type, field(key))
        } catch {
            failed = (key, error)
            throw error
        }
    }

    /// Returns the value in a field; nil when there is none.
    func valueIfPresent<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordField
    ) throws -> Value? {
        if case .children? = field.options?.relation {
            return try childrenIfPresent(type, field)
        }
        if !hasValue(field) { return nil }
        if graph?.missing == .omit, FieldKind.of(type) == .model {
            return try modelIfPresent(type, field)
        }
        // Bytes that spell null are a null, unless the type accepts them.
        if Value.self != Data.self, FieldDecoding.isNull(object(field)), !isElsewhere(field) {
            return try? value(type, field)
        }
        return try value(type, field)
    }

    /// Returns an optional that is requested by its own type.
    private func optional<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard let optional = type as? any OptionalValue.Type,
            let wrapped = optional.wrappedType as? any Decodable.Type
        else { throw mismatch(type, object(field), field) }
        let value: Any? = try valueIfPresent(wrapped, field)
        guard let result = optional.wrapping(value) as? Value else {
            throw mismatch(type, object(field), field)
        }
        return result
    }

    /// Returns the value of a type that accepts null, such as a wrapper around an optional.
    ///
    /// A field without a value is the result of `encodeNil()`, so it is decoded as a null.
    private func null<Value: Decodable>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        guard FieldKind.of(type) == .other,
            let value = NullDecoding.value(
                type,
                path: codingPath + [field.key],
                userInfo: userInfo
            )
        else { throw missing(field) }
        return value
    }

    /// Returns a date or data, which are in most records.
    @inline(__always)
    private func simple<Value>(_ type: Value.Type, _ key: some CodingKey) -> Value? {
        if Value.self == Date.self {
            guard let date = record.field(key.stringValue, as: Date.self) else { return nil }
            return exactCast(date, to: type)
        }
        if Value.self == Data.self, key.stringValue != _CKSystemFieldsKeyName {
            guard let data = record.field(key.stringValue, as: Data.self) else { return nil }
            return exactCast(data, to: type)
        }
        return nil
    }

    /// Returns the value in a field.
    func value<Value: Decodable>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        if Value.self == Data.self, field.name == _CKSystemFieldsKeyName,
            let systemFields = exactCast(SystemFieldsArchive.data(of: record), to: type)
        {
            return systemFields
        }
        let kind = FieldKind.of(type)
        if kind == .optional { return try optional(type, field) }
        if let options = field.options {
            switch options.storage {
            case .recordName: return try recordName(type, field)
            case .asset where Value.self == URL.self: break
            case .asset: return try fileValue(type, field)
            case .ignored: throw missing(field)
            case .json:
                if let data = object(field) as? Data { return try decodeJSON(type, data, field) }
            case .automatic, .encrypted: break
            }
        }
        if let value = try referred(type, field) { return value }
        switch kind {
        case .model where graph != nil: return try model(type, field)
        case .modelList where graph != nil: return try models(type, field)
        case .nativeField: return try native(type, field)
        case .model, .modelList: try refuseReferences(type, field)
        default: break
        }
        guard let object = object(field) else { return try null(type, field) }
        return try FieldDecoding(object: object, field: field, record: self).value(type)
    }

    /// Throws an error for references, which lead to other records.
    private func refuseReferences(_ type: Any.Type, _ field: RecordField) throws {
        var isElsewhere = !record.references(field.name).isEmpty
        // The record itself does not know which records refer to it.
        if case .children? = field.options?.relation { isElsewhere = object(field) == nil }
        guard isElsewhere else { return }
        throw corrupted(
            field,
            "\(type) has records of its own: load the value with graph(_:for:), or read it with "
                + "CloudKitGraphDecoder"
        )
    }

    private func native<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        let object = object(field)
        guard let type = type as? any NativeField.Type,
            let value = type.field(from: object) as? Value
        else {
            throw object == nil ? missing(field) : mismatch(type, object, field)
        }
        return value
    }

    /// Returns the record's name as the value of a property.
    private func recordName<Value>(_ type: Value.Type, _ field: RecordField) throws -> Value {
        let name = record.recordID.recordName
        if let value = name as? Value { return value }
        if Value.self == UUID.self, let value = UUID(uuidString: name) as? Value { return value }
        throw corrupted(field, "the record's name is not a \(type)")
    }

    // MARK: JSON and files

    /// Decodes a value from JSON bytes.
    func decodeJSON<Value: Decodable>(
        _ type: Value.Type,
        _ data: Data,
        _ field: RecordField
    ) throws -> Value {
        do {
            return try json.decode(type, from: data)
        } catch let error as DecodingError {
            throw error.placed(
                below: codingPath + [field.key],
                "\(CodingProblem.place(record)), field \(field.name)"
            )
        }
    }

    /// Returns a value that is stored as a file, or inline when it was small.
    func fileValue<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordField
    ) throws -> Value {
        let companion = record.object(forKey: field.name + RecordField.assetSuffix)
        guard let object = companion ?? object(field) else { throw missing(field) }
        let data: Data
        if let asset = object as? CKAsset {
            data = try contents(of: asset, field)
        } else if let bytes = object as? Data {
            data = bytes
        } else {
            // The form that was stored before the property became a file.
            let plain = RecordField(name: field.name, key: field.key, options: nil)
            return try FieldDecoding(object: object, field: plain, record: self).value(type)
        }
        if let bytes = exactCast(data, to: type) { return bytes }
        return try decodeJSON(type, data, field)
    }

    /// Returns the file of an asset, in a place where it stays for the rest of the process.
    func lastingFile(of asset: CKAsset) -> URL? {
        #if canImport(Darwin)
        // CloudKit removes its file with the asset; a record that was never saved has the app's own
        // file.
        guard let file = asset.fileURL, record.recordChangeTag != nil else { return asset.fileURL }
        // Without a link of its own, the file lasts as long as CloudKit's.
        return (try? PrivateFiles.shared.link(to: file)) ?? file
        #else
        asset.fileURL
        #endif
    }

    /// Returns the bytes of an asset's file.
    func contents(of asset: CKAsset, _ field: RecordField) throws -> Data {
        guard let file = asset.place else {
            throw corrupted(field, "the asset was not downloaded; fetch the record with this key")
        }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw corrupted(field, "the asset's file cannot be read: \(error)")
        }
    }
}

extension DecodingError {
    /// Returns the same error with a longer path and a message that names the place.
    func placed(below prefix: [any CodingKey], _ place: String) -> DecodingError {
        func context(_ inner: Context) -> Context {
            Context(
                codingPath: prefix + inner.codingPath,
                debugDescription: "\(place): \(inner.debugDescription)",
                underlyingError: inner.underlyingError
            )
        }
        return switch self {
        case .typeMismatch(let type, let inner): .typeMismatch(type, context(inner))
        case .valueNotFound(let type, let inner): .valueNotFound(type, context(inner))
        case .keyNotFound(let key, let inner): .keyNotFound(key, context(inner))
        case .dataCorrupted(let inner): .dataCorrupted(context(inner))
        @unknown default: self
        }
    }
}
