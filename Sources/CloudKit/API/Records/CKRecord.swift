public import Foundation

/// A set of typed fields with one ID, which CloudKit saves as a unit.
///
/// ```swift
/// let note = CKRecord(recordType: "Note")
/// note["title"] = "Milk"
/// note["count"] = 2
/// let saved = try await CKContainer.default().privateCloudDatabase.save(note)
/// ```
///
/// Several threads may read a record, but none may change it while another uses it.
open class CKRecord: NSObject, NSCopying, NSSecureCoding, CKRecordKeyValueSetting, FieldStoring,
    @unchecked Sendable
{
    // @unchecked Sendable because Apple's class is; as with Apple's, a record that one thread
    // changes must not be used by another at the same time.

    /// The name of a record type.
    public typealias RecordType = String

    /// The name of a field.
    public typealias FieldKey = String

    /// The ID of a record.
    public typealias ID = CKRecordID

    /// A field value that points to another record.
    public typealias Reference = CKReference

    /// The effects that deleting a reference's target can have on the referring record.
    @nonexhaustive
    public enum ReferenceAction: UInt, Sendable {
        /// No effect; the reference then refers to no record.
        case none = 0
        /// The referring record is deleted too.
        case deleteSelf = 1
    }

    var system: SystemFields
    var plain = FieldStore()
    var encrypted = FieldStore()

    /// Creates a record that the server does not have yet.
    ///
    /// An empty record type ends the process with "CKRecord: the record type is empty".
    public init(recordType: RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        precondition(!recordType.isEmpty, "CKRecord: the record type is empty")
        system = SystemFields(recordType: recordType, recordID: recordID)
    }

    /// Creates a record with a new name in a zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:) with an ID of the zone")
    public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID))
    }

    /// Creates a record from its parts, for mapping and archives.
    init(system: SystemFields, plain: FieldStore = .init(), encrypted: FieldStore = .init()) {
        self.system = system
        self.plain = plain
        self.encrypted = encrypted
    }

    // MARK: System fields

    /// The record's type.
    public var recordType: RecordType { system.recordType }

    /// The record's ID.
    open var recordID: CKRecord.ID { system.recordID }

    /// The version of the server's copy; nil before the first save.
    open var recordChangeTag: String? { system.changeTag }

    /// The ID of the user who created the record; nil before the first save.
    open var creatorUserRecordID: CKRecord.ID? { system.creator }

    /// The date of the first save; nil before it.
    open var creationDate: Date? { system.creationDate }

    /// The ID of the user who last changed the record; nil before the first save.
    open var lastModifiedUserRecordID: CKRecord.ID? { system.modifier }

    /// The date of the last save; nil before the first one.
    open var modificationDate: Date? { system.modificationDate }

    /// A reference to the share whose root is this record.
    open var share: CKRecord.Reference? { system.share }

    /// A reference to the record above this one in a shared hierarchy; its action must be `.none`.
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

    /// Returns a field's value, or nil.
    public func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        plain[key]?.object
    }

    /// Sets a field; nil clears it, on the server too once the record is saved.
    public func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        self[field: key] = object.map { FieldValue(object: $0) }
    }

    /// A field's value; setting nil clears it.
    ///
    /// Disfavored, because an assignment of a value of a known type should use the typed subscript.
    @_disfavoredOverload
    public subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { plain[key]?.object }
        set { self[field: key] = newValue.map { FieldValue(object: $0) } }
    }

    /// A field's value as the inferred type; nil when the field is empty or of another type.
    ///
    /// - Important: Apple's framework ends the process when the type differs.
    public subscript<T: CKRecordValueProtocol>(key: FieldKey) -> T? {
        // Callers in another module reach only the generic code; these specialisations check the
        // type once instead of at every step.
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

    /// Returns the keys of the fields that have a value, in alphabetical order.
    public func allKeys() -> [FieldKey] { plain.allKeys }

    /// Returns the keys of the fields that were set or cleared since the last fetch or save.
    public func changedKeys() -> [FieldKey] { plain.changedKeys }

    /// Returns the words of all text fields.
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

    /// Returns an independent copy with the same ID, version, values and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(system: system, plain: plain, encrypted: encrypted)
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the record with its values and changes.
    open func encode(with coder: NSCoder) {
        RecordArchive.encode(self, with: coder)
    }

    /// Encodes the system fields only: ID, version, dates, users, parent and share.
    open func encodeSystemFields(with coder: NSCoder) {
        RecordArchive.encodeSystemFields(system, with: coder)
    }

    /// Creates a record from an archive that `encode(with:)` or `encodeSystemFields(with:)` wrote;
    /// nil when the archive holds none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let contents = RecordArchive.decode(coder) else { return nil }
        system = contents.system
        plain = contents.plain
        encrypted = contents.encrypted
    }

    /// A textual representation with the type and the ID, without field values.
    open override var description: String {
        "<CKRecord: \(recordType); \(recordID.description)>"
    }
}
