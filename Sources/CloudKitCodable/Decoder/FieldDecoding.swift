import CloudKit
import Foundation

/// The decoding of one field's value, or of one element of a field's list.
struct FieldDecoding: Decoder {
    let object: Any
    let field: RecordField
    let record: RecordDecoding
    /// The position in the field's list.
    var index: Int?

    var userInfo: [CodingUserInfoKey: Any] { record.userInfo }

    var codingPath: [any CodingKey] {
        record.codingPath + [field.key] + (index.map { [PathKey(index: $0)] } ?? [])
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let structure = try structure([String: String].self)
        do {
            return try structure.container(keyedBy: type)
        } catch let error as DecodingError {
            throw placed(error)
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if let list = object as? [Any] {
            return FieldUnkeyedDecodingContainer(list: list, decoding: self)
        }
        let structure = try structure([String].self)
        do {
            return try structure.unkeyedContainer()
        } catch let error as DecodingError {
            throw placed(error)
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        FieldSingleValueDecodingContainer(decoding: self)
    }

    /// Returns the decoder of the JSON that the field holds; bytes in a list are not JSON.
    private func structure(_ expected: Any.Type) throws -> any Decoder {
        guard index == nil, let data = object as? Data else { throw mismatch(expected) }
        return try record.decodeJSON(JSONStructure.self, data, field).decoder
    }

    /// Extracts the decoder from a JSON decoder, for a value that is already being decoded.
    private struct JSONStructure: Decodable {
        let decoder: any Decoder

        init(from decoder: any Decoder) {
            self.decoder = decoder
        }
    }

    // MARK: Values

    /// Returns whether a field holds the stored form of an optional without a value.
    static func isNull(_ object: Any?) -> Bool {
        guard let object else { return true }
        return (object as? Data) == Data("null".utf8)
    }

    /// Returns the object as a scalar, or the scalar in JSON bytes.
    func scalar<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = FieldScalar.value(object, as: type) { return value }
        if let value = try record.textOrBytes(object, field) as? Value { return value }
        if let data = object as? Data { return try record.decodeJSON(type, data, field) }
        throw mismatch(type)
    }

    /// Returns the object as a value, in every form in which the type was ever stored.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if Value.self == Data.self || Value.self == String.self || Value.self == Date.self,
            let value = object as? Value
        {
            return value
        }
        let kind = FieldKind.of(type)
        // Within a wrapper, a model is a record, as it is without.
        if index == nil, record.graph != nil, kind == .model || kind == .modelList {
            return try record.value(type, field)
        }
        if let known = try known(type, kind) { return known }
        if let value = try record.textOrBytes(object, field) as? Value { return value }
        if let data = object as? Data, record.forms == .original || kind == .model,
            index == nil || !(type is any RawRepresentable.Type)
        {
            return try json(type, data)
        }
        // The date's own decoding would take any number for seconds, and a list's reports little.
        if object is NSNumber, Value.self == Date.self || kind == .list || kind == .set {
            throw mismatch(type)
        }
        do {
            return try Value(from: self)
        } catch let error as DecodingError {
            if let value = represented(type) { return value }
            if Self.isNull(object), let value = null(type) { return value }
            // The type's own error about a file would report little.
            if object is CKAsset, case .typeMismatch = error { throw mismatch(type) }
            throw placed(error)
        }
    }

    /// Returns the value of a list element's raw value, if its own `init(from:)` expects another
    /// form: a list holds raw values, whatever the type encodes itself as.
    private func represented<Value>(_ type: Value.Type) -> Value? {
        guard index != nil, let type = type as? any RawRepresentable.Type else { return nil }
        func value<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
            (object as? Raw.RawValue).flatMap { type.init(rawValue: $0) }
        }
        return value(type) as? Value
    }

    /// Returns the value that a type decodes from a null.
    private func null<Value: Decodable>(_ type: Value.Type) -> Value? {
        NullDecoding.value(type, path: codingPath, userInfo: userInfo)
    }

    /// Returns an error that names the record, the field and the whole path.
    private func placed(_ error: DecodingError) -> DecodingError {
        if error.message.hasPrefix("record ") { return error }
        let prefix = codingPath
        let path = error.path
        let isWhole =
            path.count >= prefix.count
            && zip(prefix, path).allSatisfy { $0.stringValue == $1.stringValue }
        let place = "\(CodingProblem.place(record.record)), field \(field.name)"
        // The path within JSON begins at the JSON, and may look like the path to it.
        return error.placed(below: isWhole && !(object is Data) ? [] : prefix, place)
    }

    /// Decodes JSON first, as it was written; a value that is stored as raw bytes is not JSON.
    private func json<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do {
            return try record.decodeJSON(type, data, field)
        } catch {
            // The first error is the one to report, if this fails as well.
            if FieldKind.of(type) == .other, let value = try? Value(from: self) { return value }
            throw error
        }
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            .init(
                codingPath: codingPath,
                debugDescription: CodingProblem.mismatch(
                    type,
                    object,
                    field.name,
                    record.record
                )
            )
        )
    }
}

extension DecodingError {
    /// The keys to the place of the error.
    var path: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        @unknown default: []
        }
    }
}

/// A value inside a field, alone or in a list.
struct FieldSingleValueDecodingContainer: SingleValueDecodingContainer {
    let decoding: FieldDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }

    /// Returns `false`: null may also be bytes, and is decoded as null when nothing else fits.
    func decodeNil() -> Bool { false }

    func decode(_ type: Bool.Type) throws -> Bool { try decoding.scalar(type) }
    func decode(_ type: String.Type) throws -> String { try decoding.scalar(type) }
    func decode(_ type: Double.Type) throws -> Double { try decoding.scalar(type) }
    func decode(_ type: Float.Type) throws -> Float { try decoding.scalar(type) }
    func decode(_ type: Int.Type) throws -> Int { try decoding.scalar(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoding.scalar(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoding.scalar(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoding.scalar(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoding.scalar(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoding.scalar(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoding.scalar(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoding.scalar(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoding.scalar(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoding.scalar(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try decoding.scalar(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoding.scalar(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoding.value(type)
    }
}
