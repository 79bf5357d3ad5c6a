import Foundation

/// The encrypted values of a record.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting, FieldStoring, Sendable {
    private let record: CKRecord

    init(record: CKRecord) {
        self.record = record
    }

    subscript(field key: CKRecord.FieldKey) -> FieldValue? {
        get { record.encrypted[key] }
        set {
            switch newValue {
            case .asset, .reference:
                preconditionFailure(
                    "CKRecord: field \(key) cannot be encrypted; assets and references are plain"
                )
            default: record.encrypted[key] = newValue
            }
        }
    }

    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        self[field: key]?.object
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        self[field: key] = object.map { FieldValue(object: $0) }
    }

    func allKeys() -> [CKRecord.FieldKey] { record.encrypted.allKeys }

    func changedKeys() -> [CKRecord.FieldKey] { record.encrypted.changedKeys }
}
