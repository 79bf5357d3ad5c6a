import CloudKit
import Foundation

/// The decoding of what one field, or one element of a field's list, holds.
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

    /// The decoder of the JSON that the field holds; bytes in a list are none.
    private func structure(_ expected: Any.Type) throws -> any Decoder {
        guard index == nil, let data = object as? Data else { throw mismatch(expected) }
        return try record.decodeJSON(JSONStructure.self, data, field).decoder
    }

    /// Takes the decoder out of a JSON decoder, for a value that is already being decoded.
    private struct JSONStructure: Decodable {
        let decoder: any Decoder

        init(from decoder: any Decoder) {
            self.decoder = decoder
        }
    }

    // MARK: Values

    /// Whether a field holds what an optional without a value was stored as.
    static func isNull(_ object: Any?) -> Bool {
        guard let object else { return true }
        return (object as? Data) == Data("null".utf8)
    }

    /// The object as a scalar, or the scalar in JSON bytes.
    func scalar<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = FieldScalar.value(object, as: type) { return value }
        if let value = try record.textOrBytes(object, field) as? Value { return value }
        if let data = object as? Data { return try record.decodeJSON(type, data, field) }
        throw mismatch(type)
    }

    /// The object as a value, in every form in which the type was ever stored.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if Value.self == Data.self || Value.self == String.self || Value.self == Date.self,
            let value = object as? Value
        {
            return value
        }
        let kind = FieldKind.of(type)
        // Within a wrapper a model is a record, as it is without.
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
        // A date's own decoding would take any number for seconds, and a list's say little.
        if object is NSNumber, Value.self == Date.self || kind == .list || kind == .set {
            throw mismatch(type)
        }
        do {
            return try Value(from: self)
        } catch let error as DecodingError {
            if let value = represented(type) { return value }
            if Self.isNull(object), let value = null(type) { return value }
            // What a type looks for in a file's place would say little.
            if object is CKAsset, case .typeMismatch = error { throw mismatch(type) }
            throw placed(error)
        }
    }

    /// The value whose raw value an element of a list is, when its own `init(from:)` looks for
    /// something else: a list holds raw values, whatever the type codes itself as.
    private func represented<Value>(_ type: Value.Type) -> Value? {
        guard index != nil, let type = type as? any RawRepresentable.Type else { return nil }
        func value<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
            (object as? Raw.RawValue).flatMap { type.init(rawValue: $0) }
        }
        return value(type) as? Value
    }

    /// The value that a type makes of a null.
    private func null<Value: Decodable>(_ type: Value.Type) -> Value? {
        NullDecoding.value(type, path: codingPath, userInfo: userInfo)
    }

    /// An error names the record, the field and the whole path.
    private func placed(_ error: DecodingError) -> DecodingError {
        if error.message.hasPrefix("record ") { return error }
        let prefix = codingPath
        let path = error.path
        let isWhole =
            path.count >= prefix.count
            && zip(prefix, path).allSatisfy { $0.stringValue == $1.stringValue }
        let place = "\(CodingProblem.place(record.record)), field \(field.name)"
        // The path within JSON begins at the JSON, and may look like the way to it.
        return error.placed(below: isWhole && !(object is Data) ? [] : prefix, place)
    }

    /// JSON first, as it was written; a value that is stored as raw bytes is none.
    private func json<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do {
            return try record.decodeJSON(type, data, field)
        } catch {
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
    /// The keys to where it happened.
    var path: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        @unknown default: []
        }
    }
}
