public import Foundation

/// A container of values by field key: a record, or a record's encrypted values.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// Returns a field's value, or nil.
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?

    /// Sets a field; nil clears it.
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey)

    /// A field's value; setting nil clears it.
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }

    /// Returns the keys of the fields that have a value.
    func allKeys() -> [CKRecord.FieldKey]

    /// Returns the keys of the fields that were set or cleared since the last fetch or save.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    /// A field's value as the inferred type; nil when the field is empty or of another type.
    ///
    /// - Important: Apple's framework ends the process when the type differs.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get {
            if let store = self as? any FieldStoring { return store[field: key]?.value(as: T.self) }
            return object(forKey: key) as? T
        }
        set {
            if let store = self as? any FieldStoring {
                store[field: key] = newValue.map { FieldValue(typed: $0) }
            } else {
                setObject(newValue as? any __CKRecordObjCValue, forKey: key)
            }
        }
    }

    /// A field's value, whatever its type.
    @_disfavoredOverload
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) as? any CKRecordValueProtocol }
        set { setObject(newValue as? any __CKRecordObjCValue, forKey: key) }
    }
}
