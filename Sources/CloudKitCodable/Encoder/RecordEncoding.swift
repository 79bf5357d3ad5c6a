import CloudKit
import Foundation

/// The encoding of one value into one record.
///
/// Values are written directly into the record, under their coding keys; only nested containers are
/// collected first, because their bytes are known when everything is encoded.
final class RecordEncoding: Encoder {
    /// The known state of the server's copy, which determines the meaning of nil.
    enum Baseline {
        /// Unknown: a new record, in which nil is the absence of a field.
        case none
        /// The copy exists, but its values are unknown: nil must be sent.
        case systemFields
        /// The values are known: only differences are written.
        case values
    }

    let record: CKRecord
    let baseline: Baseline
    let forms: CloudKitRecordForms
    let sendableUserInfo: [CodingUserInfoKey: any Sendable]
    let graph: GraphEncoding?

    /// The location of the value in the graph.
    let location: CodingLocation

    /// The model's options for its properties; nil when it has none, which makes fields fast.
    let options: [String: CloudKitField]?

    /// `true` when fields are written without checking the record, the options and the graph.
    let isPlain: Bool

    /// State that few values need, kept apart because most encodings are created and released without
    /// it.
    private final class Extras {
        /// The record of system fields that the value turned out to carry.
        var adopted: CKRecord?
        /// Nested containers, by field.
        var trees: [(field: RecordField, tree: FieldTree)] = []
        var assets: AssetFolder?
        var json: JSONEncoder?
        /// The fields that the value wrote or cleared, if the record holds others.
        var mentioned: Set<String> = []
        /// The keys of the properties whose models refer to this record.
        var children: Set<String> = []
        /// The owners of the models that refer to this record.
        var childOwners = ChildOwners()
    }

    private var madeExtras: Extras?

    /// The known properties of the value's type, if the record may have fields from before.
    private(set) var memory: PropertyMemory?

    /// The model whose record this is, if any.
    var model: (any CloudKitModel.Type)?

    /// The properties that wrote the fields, if two may write the same one; nil otherwise.
    let owners: FieldOwners?

    private var extras: Extras {
        if let madeExtras { return madeExtras }
        let extras = Extras()
        madeExtras = extras
        return extras
    }

    /// The folder to which files of assets are written.
    var assets: AssetFolder {
        if let assets = graph?.assets ?? extras.assets { return assets }
        let assets = AssetFolder(isRemovedWithObject: false)
        extras.assets = assets
        return assets
    }

    /// The owners of the models that refer to this record.
    var childOwners: ChildOwners {
        get { extras.childOwners }
        set { extras.childOwners = newValue }
    }

    /// Created once for the record's values that become JSON.
    var json: JSONEncoder {
        if let json = extras.json { return json }
        let json = JSONEncoder.fields(sendableUserInfo)
        extras.json = json
        return json
    }

    init(
        record: CKRecord,
        baseline: Baseline,
        forms: CloudKitRecordForms,
        userInfo: [CodingUserInfoKey: any Sendable] = [:],
        options: [String: CloudKitField] = [:],
        graph: GraphEncoding? = nil,
        location: CodingLocation = .root,
        owners: FieldOwners? = nil
    ) {
        self.record = record
        self.baseline = baseline
        self.forms = forms
        sendableUserInfo = userInfo
        self.options = options.isEmpty ? nil : options
        self.graph = graph
        self.location = location
        let owners =
            owners ?? (options.values.contains(where: \.isRenamed) ? FieldOwners() : nil)
        self.owners = owners
        isPlain =
            baseline != .values && options.isEmpty && owners == nil && graph?.dialect == nil
    }

    /// The keys from the root of the graph to this record.
    var codingPath: [any CodingKey] { location.path }

    var userInfo: [CodingUserInfoKey: Any] { sendableUserInfo }

    // MARK: Encoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        memory?.note(type)
        return KeyedEncodingContainer(RecordKeyedEncodingContainer<Key>(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        tree(for: field(RecordField.valueKey)).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        RecordSingleValueEncodingContainer(encoding: self)
    }

    /// Notes that the models of a property refer to this record and are known.
    func noteChildren(_ field: RecordField) { extras.children.insert(field.key.stringValue) }

    /// The keys of the properties whose models refer to this record and are known.
    var children: Set<String> { madeExtras?.children ?? [] }

    /// The fields that the value wrote or cleared in a record whose values are known.
    var mentioned: Set<String> { madeExtras?.mentioned ?? [] }

    // MARK: Ending

    /// Stores the values that had to wait until everything was encoded.
    ///
    /// - Returns: The record of the value.
    @discardableResult
    func finish() throws -> CKRecord {
        while let (field, tree) = madeExtras?.trees.popLast() {
            try storeJSON(tree, field)
        }
        noteWritten()
        if baseline != .none { try clearUnwritten() }
        guard let madeExtras else { return record }
        guard let adopted = madeExtras.adopted else { return record }
        for key in record.allKeys() {
            adopted.setObject(record.object(forKey: key), forKey: key)
        }
        let encrypted = adopted.encryptedValues
        for key in record.encryptedValues.allKeys() {
            encrypted.setObject(record.encryptedValues.object(forKey: key), forKey: key)
        }
        return adopted
    }

    /// Encodes the value whose record this is, by its mapping if it has one.
    func encode(_ value: any Encodable, _ traits: TypeTraits) throws {
        model = traits.model
        // The other API has its own forms even for plain values.
        if graph?.dialect == nil, let value = traits.mapped(value) {
            var fields = CloudKitFieldWriter(self, type(of: value))
            try value.writeFields(to: &fields)
        } else {
            // A mapping writes every property, or clears it.
            if graph != nil || baseline != .none { memory = traits.memory }
            try value.encode(to: self)
        }
    }

    /// Returns a container within the record that is stored as JSON at the end.
    func tree(for field: RecordField) -> FieldTree {
        let tree = FieldTree(path: codingPath + [field.key], userInfo: userInfo)
        extras.trees.append((field, tree))
        return tree
    }

    /// Moves the value into the record of archived system fields, when everything is encoded.
    func adopt(_ systemFields: CKRecord) {
        extras.adopted = systemFields
    }

    // MARK: Fields

    /// Returns the field of a coding key.
    func field(_ key: some CodingKey) -> RecordField {
        let options = options?[key.stringValue]
        let name = options?.name ?? key.stringValue
        if baseline == .values { extras.mentioned.insert(name) }
        return RecordField(name: name, key: key, options: options)
    }

    /// Returns the object that stores a field's value.
    func store(_ field: RecordField) -> any CKRecordKeyValueSetting {
        if field.options?.storage == .encrypted { return record.encryptedValues }
        return record
    }

    /// Notes that a property writes a field, which only one property can.
    @inline(never)
    func note(_ name: String, _ key: some CodingKey) throws {
        if let problem = owners?.note(name, key) { throw error(name, key, problem) }
    }

    /// Returns an error about a value at a key.
    func error(_ value: Any, _ key: (any CodingKey)?, _ problem: String) -> any Error {
        EncodingError.invalidValue(
            CodingProblem.printable(value),
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []),
                debugDescription: "\(CodingProblem.place(record)): \(problem)"
            )
        )
    }
}

extension JSONEncoder {
    /// Returns an encoder of fields that encodes equal values to equal bytes.
    static func fields(_ userInfo: [CodingUserInfoKey: any Sendable]) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !userInfo.isEmpty { encoder.userInfo = userInfo }
        return encoder
    }
}
