public import Foundation

/// A set of typed fields under one identity, which CloudKit stores as a unit.
///
/// ```swift
/// let note = CKRecord(recordType: "Note")
/// note["title"] = "Milk"
/// note["count"] = 2
/// let saved = try await CKContainer.default().privateCloudDatabase.save(note)
/// ```
///
/// A record may be read from several threads, and must not be changed by one while another uses it.
open class CKRecord: NSObject, NSCopying, NSSecureCoding, CKRecordKeyValueSetting, FieldStoring,
    @unchecked Sendable
{
    // @unchecked Sendable because Apple's class is; as there, a record that one thread changes must
    // not be used by another at the same time.

    /// The name of a kind of record.
    public typealias RecordType = String

    /// The name of a field.
    public typealias FieldKey = String

    /// The identity of a record.
    public typealias ID = CKRecordID

    /// A field value that points to another record.
    public typealias Reference = CKReference

    /// What happens to a referring record when its target is deleted.
    @nonexhaustive
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing; the reference dangles.
        case none = 0
        /// The referring record is deleted too.
        case deleteSelf = 1
    }

    var system: SystemFields
    var plain = FieldStore()
    var encrypted = FieldStore()

    /// Makes a record that the server does not know yet.
    ///
    /// An empty record type ends the process with "CKRecord: the record type is empty".
    public init(recordType: RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        precondition(!recordType.isEmpty, "CKRecord: the record type is empty")
        system = SystemFields(recordType: recordType, recordID: recordID)
    }

    /// Makes a record with a new name in a zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:) with an ID of the zone")
    public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
    }

    /// Makes a record from parts, as mapping and archives do.
    init(system: SystemFields, plain: FieldStore = .init(), encrypted: FieldStore = .init()) {
        self.system = system
        self.plain = plain
        self.encrypted = encrypted
    }

    // MARK: System fields

    /// The kind of record.
    public var recordType: RecordType { system.recordType }

    /// The record's identity.
    open var recordID: CKRecord.ID { system.recordID }

    /// The version of the server's copy; nil before the first save.
    open var recordChangeTag: String? { system.changeTag }

    /// Who made the record; nil before the first save.
    open var creatorUserRecordID: CKRecord.ID? { system.creator }

    /// When the server first saved the record; nil before that.
    open var creationDate: Date? { system.creationDate }

    /// Who last changed the record; nil before the first save.
    open var lastModifiedUserRecordID: CKRecord.ID? { system.modifier }

    /// When the server last saved the record; nil before the first save.
    open var modificationDate: Date? { system.modificationDate }

    /// The share that the record is the root of.
    open var share: CKRecord.Reference? { system.share }

    /// The record above this one in a shared hierarchy; its action must be `.none`.
    open var parent: CKRecord.Reference? {
        get { system.parent }
        set {
            precondition(
                newValue.map { $0.action == ReferenceAction.none } ?? true,
                "CKRecord: a parent reference has the action .none"
            )
            system.removesParent =
                newValue == nil && (system.parent != nil || system.removesParent)
            system.parent = newValue
        }
    }

    /// Sets the record above this one; nil removes it.
    open func setParent(_ parentRecord: CKRecord?) {
        setParent(parentRecord?.recordID)
    }

    /// Sets the record above this one; nil removes it.
    open func setParent(_ parentRecordID: CKRecord.ID?) {
        parent = parentRecordID.map { CKRecord.Reference(recordID: $0, action: .none) }
    }

    // MARK: Fields

    /// The value of a field, or nil.
    public func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        plain[key]?.object
    }

    /// Sets a field; nil clears it, on the server too once the record is saved.
    public func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        self[field: key] = object.map { FieldValue(object: $0) }
    }

    /// The value of a field; setting nil clears it.
    ///
    /// Disfavored, so that the assignment of a value of a known type takes the typed way.
    @_disfavoredOverload
    public subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { plain[key]?.object }
        set { self[field: key] = newValue.map { FieldValue(object: $0) } }
    }

    /// The value of a field as a stated type; nil when the field is empty or of another type.
    ///
    /// - Important: Apple's framework ends the process when the type differs.
    public subscript<T: CKRecordValueProtocol>(key: FieldKey) -> T? {
        // Callers of another module reach only the generic code; these make it look at the type
        // once instead of at every step.
        @_specialize(where T == String)
        @_specialize(where T == Int)
        @_specialize(where T == Double)
        @_specialize(where T == Bool)
        @_specialize(where T == Date)
        @_specialize(where T == Data)
        get { plain[key]?.value(as: T.self) }
        @_specialize(where T == String)
        @_specialize(where T == Int)
        @_specialize(where T == Double)
        @_specialize(where T == Bool)
        @_specialize(where T == Date)
        @_specialize(where T == Data)
        set { self[field: key] = newValue.map { FieldValue(typed: $0) } }
    }

    subscript(field key: FieldKey) -> FieldValue? {
        get { plain[key] }
        set { plain[key] = newValue }
    }

    /// The keys of the fields that have a value, in alphabetical order.
    public func allKeys() -> [FieldKey] { plain.allKeys }

    /// The keys of the fields that were set or cleared since the record was fetched or saved.
    public func changedKeys() -> [FieldKey] { plain.changedKeys }

    /// The words of all text fields.
    open func allTokens() -> [String] {
        plain.allKeys.flatMap { key -> [String] in
            guard case .string(let text) = plain[key] else { return [] }
            return text.split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    /// The fields that are encrypted before they leave the device.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable {
        EncryptedValues(record: self)
    }

    // MARK: Copying and coding

    /// An independent record with the same identity, version, values and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(system: system, plain: plain, encrypted: encrypted)
    }

    /// True: an archived record can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the record with its values and changes.
    open func encode(with coder: NSCoder) {
        RecordArchive.encode(self, with: coder)
    }

    /// Writes all but the fields: identity, version, dates, users, parent and share.
    open func encodeSystemFields(with coder: NSCoder) {
        RecordArchive.encodeSystemFields(system, with: coder)
    }

    /// Reads a record that `encode(with:)` or `encodeSystemFields(with:)` wrote; nil when the
    /// archive holds none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let contents = RecordArchive.decode(coder) else { return nil }
        system = contents.system
        plain = contents.plain
        encrypted = contents.encrypted
    }

    /// Type and identity, without field values.
    open override var description: String {
        "<CKRecord: \(recordType); \(recordID.description)>"
    }
}
