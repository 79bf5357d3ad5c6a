public import CloudKit

// The checked variants: no value is dropped, and a mismatch is an error.
extension CKRecordWrapper where FieldKey.RawValue == String {
    /// Creates a view of a record after checking its type.
    ///
    /// - Throws: `DecodingError.typeMismatch` for a record of another type.
    public init(checked record: CKRecord) throws {
        guard record.recordType == Self.RecordType else {
            throw DecodingError.typeMismatch(
                Self.self,
                .init(
                    codingPath: [],
                    debugDescription: """
                        expected a record of type \(Self.RecordType), found \
                        \(CodingProblem.place(record))
                        """
                )
            )
        }
        self.init(record: record)
    }

    /// Returns the value of a field; nil when it is empty.
    ///
    /// - Throws: `DecodingError` when the field holds another type, or a number that does not fit.
    public func value<T: Decodable>(of key: FieldKey, as type: T.Type = T.self) throws -> T? {
        let decoding = RecordDecoding(record: record, forms: .native)
        let field = decoding.field(PathKey(key.rawValue))
        return decoding.isNil(field) ? nil : try decoding.value(type, field)
    }

    /// Sets a field, or clears it with nil; every `Codable` value can be stored.
    ///
    /// - Throws: `EncodingError` when the value cannot be stored.
    public func set<T: Encodable>(_ value: T?, for key: FieldKey) throws {
        let encoding = RecordEncoding(record: record, baseline: .values, forms: .native)
        let field = encoding.field(PathKey(key.rawValue))
        if let value { try encoding.store(value, field) } else { try encoding.clear(field) }
    }

    /// Returns the reference in a field; nil when it is empty.
    ///
    /// - Throws: `DecodingError.typeMismatch` when the field holds something else.
    public func reference(of key: FieldKey) throws -> CKRecord.Reference? {
        guard let object = record.object(forKey: key.rawValue) else { return nil }
        guard let reference = object as? CKRecord.Reference else {
            let field = RecordDecoding(record: record, forms: .native)
            throw field.mismatch(
                CKRecord.Reference.self,
                object,
                field.field(PathKey(key.rawValue))
            )
        }
        return reference
    }

    /// Sets a field to a reference to a record of the same zone.
    ///
    /// - Parameters:
    ///   - key: The field.
    ///   - recordID: The identity of the target; nil clears the field.
    ///   - action: The action on this record when the target is deleted.
    /// - Throws: `EncodingError.invalidValue` for a target in another zone.
    public func setReference(
        _ key: FieldKey,
        to recordID: CKRecord.ID?,
        action: CKRecord.ReferenceAction
    ) throws {
        let encoding = RecordEncoding(record: record, baseline: .values, forms: .native)
        let field = encoding.field(PathKey(key.rawValue))
        guard let recordID else { return try encoding.clear(field) }
        guard recordID.zoneID == record.recordID.zoneID else {
            throw encoding.error(
                recordID,
                field.key,
                "the target is in zone \(recordID.zoneID.zoneName); references do not leave theirs"
            )
        }
        try encoding.storeObject(CKRecord.Reference(recordID: recordID, action: action), field)
    }
}
