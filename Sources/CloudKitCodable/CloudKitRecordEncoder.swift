public import CloudKit
import Foundation

/// Makes a record of a `Codable` value.
///
/// ```swift
/// let record = try CloudKitRecordEncoder(zoneID: zoneID).encode(person)
/// try await database.save(record)
/// ```
///
/// A value that carries system fields becomes the record that it was read from, so that saving it
/// is an update, and what is nil in it is cleared on the server. Values within the value become
/// JSON bytes; ``CloudKitGraphEncoder`` makes records of them.
public class CloudKitRecordEncoder {
    /// The zone of new records; nil for the default zone.
    public var zoneID: CKRecordZone.ID?

    /// In which form values that a record cannot hold as they are become fields.
    public var forms = CloudKitRecordForms.original

    /// What `encode(to:)` of the values can ask for.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder for a zone, the default zone unless given.
    public init(zoneID: CKRecordZone.ID? = nil) {
        self.zoneID = zoneID
    }

    /// Makes the record of a value.
    ///
    /// The record type and name are what the value says if it is ``CloudKitRecordRepresentable`` or
    /// a ``CloudKitModel``, else the name of its type and a new UUID.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode(_ value: any Encodable) throws -> CKRecord {
        let represented = value as? any CloudKitRecordRepresentable
        if let systemFields = represented?.cloudKitSystemFields {
            let record = try SystemFieldsArchive.record(from: systemFields)
            let type = represented?.cloudKitRecordType ?? record.recordType
            guard record.recordType == type else {
                throw CloudKitRecordEncodingError.systemFieldsDecode(
                    "they are of a record of type \(record.recordType), the value is a \(type)"
                )
            }
            return try encode(value, record, .systemFields)
        }
        let model = value as? any CloudKitModel
        let type =
            represented?.cloudKitRecordType ?? model.map { Swift.type(of: $0).recordType }
            ?? String(describing: Swift.type(of: value))
        let name =
            represented?.cloudKitIdentifier ?? model?.recordName ?? UUID().uuidString
        guard !type.isEmpty, !name.isEmpty else {
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: [], debugDescription: "the record's type or name is empty")
            )
        }
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID ?? .default)
        return try encode(value, CKRecord(recordType: type, recordID: recordID), .none)
    }

    /// Puts a value into a record that is known, and touches only what differs.
    ///
    /// Fields that hold the same value stay untouched, so that a save sends nothing for them; what
    /// is nil in the value is cleared; fields that the value does not know are kept. When encoding
    /// fails the record may have been changed in part.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode(_ value: any Encodable, onto record: CKRecord) throws {
        _ = try encode(value, record, .values)
    }

    private func encode(
        _ value: any Encodable,
        _ record: CKRecord,
        _ baseline: RecordEncoding.Baseline
    ) throws -> CKRecord {
        let encoding = RecordEncoding(
            record: record,
            baseline: baseline,
            forms: forms,
            userInfo: userInfo,
            options: (value as? any CloudKitModel).map { type(of: $0).fields.byKey } ?? [:]
        )
        try encoding.encodeWhole(value)
        return encoding.record
    }
}

extension RecordEncoding {
    /// Encodes the value whose record this is.
    func encodeWhole(_ value: some Encodable) throws {
        if FieldKind.of(type(of: value)) == .other || value is any CloudKitModel {
            try value.encode(to: self)
        } else {
            try store(value, field(Self.valueKey))
        }
        try finish()
    }
}
