import CloudKit
import Foundation

/// The decoding of one value from one record.
final class RecordDecoding: Decoder {
    let record: CKRecord
    let forms: CloudKitRecordForms
    let sendableUserInfo: [CodingUserInfoKey: any Sendable]
    let graph: GraphDecoding?

    /// The location of the value in the graph.
    let location: CodingLocation

    /// The model's options for its properties; nil when it has none, which makes fields fast.
    let options: [String: CloudKitField]?

    /// The model whose record this is, if any.
    private(set) var model: (any CloudKitModel.Type)?

    /// The properties that the type is known to request, in its order, and the position of the
    /// decoding in them: the next key is nearly always the next one there.
    private var memory: PropertyMemory?
    private var asked: [KnownProperty] = []
    private var nextAsked = 0

    /// The key under which decoding last failed, and the error.
    var failed: (key: any CodingKey, error: any Error)?

    /// The types of keys that were requested.
    private(set) var keySpaces: [KeySpace]?

    /// The owners of the models that refer to this record.
    var childOwners = ChildOwners()

    /// Created once for the record's values that are JSON.
    private(set) lazy var json = JSONDecoder.fields(sendableUserInfo)

    init(
        record: CKRecord,
        forms: CloudKitRecordForms,
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        options: [String: CloudKitField] = [:],
        graph: GraphDecoding? = nil,
        location: CodingLocation = .root
    ) {
        self.record = record
        self.forms = forms
        sendableUserInfo = userInfo
        self.options = options.isEmpty ? nil : options
        self.graph = graph
        self.location = location
    }

    /// The keys from the root of the graph to this record.
    var codingPath: [any CodingKey] { location.path }

    var userInfo: [CodingUserInfoKey: Any] { sendableUserInfo }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if keySpaces != nil { keySpaces?.append(KeySpace(type)) }
        return KeyedDecodingContainer(RecordKeyedDecodingContainer<Key>(decoding: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        note(RecordField.valueKey.stringValue, Void.self, isOptional: false)
        return try decoder(for: RecordField.valueKey).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        RecordSingleValueDecodingContainer(decoding: self)
    }

    /// Returns a decoder of a field's contents.
    func decoder(for key: some CodingKey) throws -> FieldDecoding {
        let field = field(key)
        guard let object = object(field) else { throw missing(field) }
        return FieldDecoding(object: object, field: field, record: self)
    }

    /// Decodes the value whose record this is, by its mapping if it has one.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let traits = TypeTraits.of(type)
        model = traits.model
        if graph?.followsReferences != true, let mapped = traits.mapped {
            var fields = CloudKitFieldReader(self, mapped)
            if let value = try mapped.init(fields: &fields) as? Value { return value }
        }
        memory = traits.memory
        asked = traits.memory.asked
        return try Value(from: self)
    }

    /// Returns the key of the field whose own type threw an error; nil when another did.
    func key(of error: any Error) -> (any CodingKey)? {
        guard let failed, type(of: failed.error) == type(of: error) else { return nil }
        return failed.key
    }

    // MARK: Remembering

    /// Remembers that the type requests a key: its field is the type's own.
    @inline(__always)
    func note(_ key: String, _ type: Any.Type, isOptional: Bool) {
        if nextAsked < asked.count, asked[nextAsked].key == key {
            nextAsked += 1
        } else {
            noteAnew(key, type, isOptional)
        }
    }

    private func noteAnew(_ key: String, _ type: Any.Type, _ isOptional: Bool) {
        guard let memory else { return }
        nextAsked = memory.note(KnownProperty(key, type, isOptional: isOptional)) + 1
    }

    /// Remembers the types of keys that are requested from here on.
    func noteKeySpaces() { keySpaces = [] }

    // MARK: Fields

    /// Returns the field of a coding key.
    func field(_ key: some CodingKey) -> RecordField {
        let options = options?[key.stringValue]
        return RecordField(name: options?.name ?? key.stringValue, key: key, options: options)
    }

    /// Returns the object that holds a field's value.
    func store(_ field: RecordField) -> any CKRecordKeyValueSetting {
        if field.options?.storage == .encrypted { return record.encryptedValues }
        return record
    }

    /// Returns the contents of a field; nil when it is empty.
    func object(_ field: RecordField) -> (any CKRecordValue)? {
        store(field).object(forKey: field.name)
    }

    /// Returns whether there is something to decode for a property.
    func hasValue(_ field: RecordField) -> Bool {
        if field.name == _CKSystemFieldsKeyName || field.name == _CKIdentifierKeyName {
            return true
        }
        switch field.options?.storage {
        case .recordName?: return true
        case .ignored?: return false
        case .asset?:
            return object(field) != nil
                || record.object(forKey: field.name + RecordField.assetSuffix) != nil
        default: break
        }
        if case .children(let name, _, _)? = field.options?.relation, let graph {
            let types = model.map {
                TypeTraits.of($0).memory.types(of: field.key.stringValue, in: $0)
            }
            return graph.hasChildren(of: record.recordID, types ?? [], via: name)
        }
        return object(field) != nil
    }

    /// Returns whether a property is nil in the record.
    ///
    /// Bytes that spell null may be meant as bytes; only in a field that is always JSON are they
    /// null.
    func isNil(_ field: RecordField) -> Bool {
        if !hasValue(field) { return true }
        return field.options?.storage == .json && FieldDecoding.isNull(object(field))
    }

    /// Returns whether a property that is not data is nil in the record.
    func isNilScalar(_ field: RecordField) -> Bool {
        !hasValue(field) || FieldDecoding.isNull(object(field)) && !isElsewhere(field)
    }

    /// Returns whether a property's value is not in its field: a name, a file, records.
    func isElsewhere(_ field: RecordField) -> Bool { object(field) == nil && hasValue(field) }

    /// The keys of the fields that have a value.
    var allKeys: [String] {
        var keys = Set(record.allKeys())
        for (key, field) in options ?? [:] {
            keys.remove(field.name ?? key)
            if hasValue(self.field(PathKey(key))) { keys.insert(key) }
        }
        return keys.sorted()
    }

    /// `true` when the record has no fields at all.
    var isEmpty: Bool { record.allKeys().isEmpty && record.encryptedValues.allKeys().isEmpty }
}

extension JSONDecoder {
    /// Returns a decoder of fields that are JSON.
    static func fields(_ userInfo: [CodingUserInfoKey: any Sendable]) -> JSONDecoder {
        let decoder = JSONDecoder()
        if !userInfo.isEmpty { decoder.userInfo = userInfo }
        return decoder
    }
}
