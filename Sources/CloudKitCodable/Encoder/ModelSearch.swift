import CloudKit
import Foundation

// A model within a structure would become JSON without anyone having requested it, and would be a
// different value than the record of its name.
extension RecordEncoding {
    /// Checks that a value stored as JSON in a model's record contains no models.
    func checkModels(in value: some Encodable, _ field: RecordField) throws {
        guard graph != nil || model != nil, graph?.dialect == nil else { return }
        if case .json? = field.options?.storage { return }
        try search(.models, in: value, field) { model, type in
            """
            \(CodingProblem.place(record)): \(model) is a model, which is a record of its own, \
            and a field cannot refer to it from within \(type); make the property a \(model), \
            an optional or an array of them, or a CloudKitReference, or use .json for its key in \
            'fields' to keep copies within this record
            """
        }
    }

    /// Checks that JSON contains no file URLs, which are useless on another device.
    func checkFiles(in value: some Encodable, _ json: Data, _ field: RecordField) throws {
        // Walk over the value only if there may be one; JSON may write the slashes either way.
        guard json.range(of: Data("\"file:".utf8)) != nil else { return }
        try search(.files, in: value, field) { file, type in
            """
            \(CodingProblem.place(record)), field \(field.name): \(file) is a file on this device, \
            and JSON would store only its path; make the file a property of its own or an array of \
            them, which become assets, instead of a part of \(type)
            """
        }
    }

    /// Returns whether the JSON of a value has parts without a meaningful order: sets, and
    /// dictionaries whose keys are not strings.
    func holdsSets(_ value: some Encodable) -> Bool {
        do {
            try ModelSearch(.sets, path: [], userInfo: userInfo).look(at: value, [])
            return false
        } catch {
            return error is ModelSearch.Found
        }
    }

    private func search(
        _ subject: ModelSearch.Subject,
        in value: some Encodable,
        _ field: RecordField,
        _ message: (_ found: String, _ type: String) -> String
    ) throws {
        let path = codingPath + [field.key]
        do {
            try ModelSearch(subject, path: path, userInfo: userInfo).look(at: value, path)
        } catch let found as ModelSearch.Found {
            let type = value is FieldTree ? "a container of the value" : "\(type(of: value))"
            throw EncodingError.invalidValue(
                CodingProblem.printable(value),
                .init(codingPath: found.path, debugDescription: message(found.subject, type))
            )
        }
    }
}

/// An encoder that looks for models, files or sets, and ignores everything else.
private final class ModelSearch: Encoder {
    enum Subject {
        case models
        case files
        case sets
    }

    /// The signal that the search succeeded.
    struct Found: Error {
        let subject: String
        let path: [any CodingKey]
    }

    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    private let subject: Subject
    fileprivate var count = 0

    init(_ subject: Subject, path: [any CodingKey], userInfo: [CodingUserInfoKey: Any]) {
        self.subject = subject
        codingPath = path
        self.userInfo = userInfo
    }

    /// Examines a type, then the value: an empty list has only its type.
    func look<Value: Encodable>(at value: Value, _ path: [any CodingKey]) throws {
        switch subject {
        case .models:
            if let model = TypeTraits.of(Value.self).heldModel {
                throw Found(subject: "\(model)", path: path)
            }
        case .files:
            if let file = value as? URL, file.isFileURL {
                throw Found(subject: file.lastPathComponent, path: path)
            }
        case .sets:
            if value is any EncodableSet || (value as? any EncodableDictionary)?.pairs != nil {
                throw Found(subject: "\(Value.self)", path: path)
            }
        }
        switch value {
        case is String, is Bool, is Date, is Data, is URL, is UUID, is Decimal,
            is any BinaryInteger,
            is any BinaryFloatingPoint, is any NativeField, is any ReferenceField:
            return
        default: try value.encode(to: ModelSearch(subject, path: path, userInfo: userInfo))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedSearch(search: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedSearch(search: self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { ValueSearch(search: self) }

    fileprivate func inner(_ key: any CodingKey) -> ModelSearch {
        ModelSearch(subject, path: codingPath + [key], userInfo: userInfo)
    }

    fileprivate func next() -> ModelSearch {
        count += 1
        return inner(PathKey(index: count - 1))
    }
}

private struct KeyedSearch<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let search: ModelSearch

    var codingPath: [any CodingKey] { search.codingPath }

    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try search.look(at: value, codingPath + [key])
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        // As an optional, so that the type is examined when there is no value.
        try search.look(at: value, codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        search.inner(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        search.inner(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { search.inner(PathKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { search.inner(key) }
}

private struct UnkeyedSearch: UnkeyedEncodingContainer {
    let search: ModelSearch

    var codingPath: [any CodingKey] { search.codingPath }
    var count: Int { search.count }

    func encodeNil() { search.count += 1 }

    func encode<Value: Encodable>(_ value: Value) throws {
        try search.look(at: value, search.next().codingPath)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        search.next().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        search.next().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { search.next() }
}

private struct ValueSearch: SingleValueEncodingContainer {
    let search: ModelSearch

    var codingPath: [any CodingKey] { search.codingPath }

    func encodeNil() {}
    func encode<Value: Encodable>(_ value: Value) throws { try search.look(at: value, codingPath) }
}
