public import CloudKit
import Foundation

/// A type whose values are views of a record, which serves as the model.
///
/// ```swift
/// struct Note: CKRecordWrapper {
///     enum FieldKey: String { case title, folder }
///     static let RecordType = "Note"
///     let record: CKRecord
///     var title: String { getField(.title) ?? "" }
///     func rename(_ title: String) throws { try set(title, for: .title) }
/// }
/// ```
public protocol CKRecordWrapper {
    /// The names of the fields.
    associatedtype FieldKey: RawRepresentable

    /// The record type.
    static var RecordType: String { get }

    /// The record.
    var record: CKRecord { get }

    /// The record's name.
    var identifier: String? { get }

    /// The record's creation date; nil before it is saved.
    var createdAt: Date? { get }

    /// The date of the record's last save; nil before that.
    var modifiedAt: Date? { get }

    /// Creates a view of a record.
    init(record: CKRecord)
}

extension CKRecordWrapper {
    /// The record's name.
    public var identifier: String? { record.recordID.recordName }

    /// The record's creation date; nil before it is saved.
    public var createdAt: Date? { record.creationDate }

    /// The date of the record's last save; nil before that.
    public var modifiedAt: Date? { record.modificationDate }
}

extension CKRecordWrapper where FieldKey.RawValue == String {
    /// Returns the value of a field; nil when it is empty or has another type.
    public func getField<T>(_ key: FieldKey) -> T? {
        guard let object = record.object(forKey: key.rawValue) else { return nil }
        if let value = FieldScalar.value(object, as: T.self) { return value }
        guard let type = T.self as? any Decodable.Type else { return nil }
        // The getter of CKRecordWrapper returns nil for a value of another type.
        return (try? value(of: key, as: type)) as? T
    }

    /// Sets a field, or clears it with nil.
    ///
    /// Values that a record does not hold directly, for example `URL`, `UUID`, enumerations and
    /// structures, are stored as ``set(_:for:)`` stores them.
    ///
    /// - Important: A value that cannot be stored leaves the field unchanged; ``set(_:for:)`` throws.
    public func setField<T>(_ key: FieldKey, value: T?) {
        guard let value else { return record.setObject(nil, forKey: key.rawValue) }
        if let value = value as? any Encodable {
            let encoding = RecordEncoding(record: record, baseline: .systemFields, forms: .native)
            // The setter cannot throw: a value that cannot be encoded leaves the field as it is.
            try? encoding.store(value, encoding.field(PathKey(key.rawValue)))
        } else if let object = value as? any CKRecordValue {
            record.setObject(object, forKey: key.rawValue)
        }
    }

    /// Returns the name of the record that a field refers to.
    public func getReference(_ key: FieldKey) -> String? {
        (record.object(forKey: key.rawValue) as? CKRecord.Reference)?.recordID.recordName
    }

    /// Sets a field to a reference to a record of the same zone, or clears it; this record is deleted
    /// with its target.
    public func setReference(_ key: FieldKey, referenceIdentifier: String?) {
        let reference = referenceIdentifier.map { name in
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: name, zoneID: record.recordID.zoneID),
                action: .deleteSelf
            )
        }
        record.setObject(reference, forKey: key.rawValue)
    }
}
