public import CloudKit

// The compiler of the caller chooses the path of a value: looking up a type's protocols for every
// value would cost as much as storing a field.
extension CloudKitRecordEncoder {
    /// Encodes a value with an explicit mapping into a record.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    @inlinable @inline(__always)
    public func encode<Model: CloudKitMappedModel>(_ value: Model) throws -> CKRecord {
        // A subclass without its own mapping has its superclass's; a value that determines its own
        // record may bring that record's system fields.
        guard !Model._isRepresentable, !Model._isCodedByHand, type(of: value) == Model.mappedType
        else { return try Self.encode(any: value, zoneID, forms, userInfo) }
        let record = try Self.newRecord(Model.recordType, value.recordName, zoneID, Model.self)
        var fields = CloudKitFieldWriter(new: record, Model.self, userInfo)
        try value.writeFields(to: &fields)
        return try fields.finish()
    }

    /// Encodes a model into a record.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    @inlinable @inline(__always)
    public func encode<Model: CloudKitModel>(_ value: Model) throws -> CKRecord {
        guard Model._isSimple, type(of: value) == Model.self
        else { return try Self.encode(any: value, zoneID, forms, userInfo) }
        let record = try Self.newRecord(Model.recordType, value.recordName, zoneID, Model.self)
        return try Self.encode(simple: value, record, userInfo, isClass: Model.self is AnyClass)
    }

    /// Encodes a value into a record by its dynamic type.
    @usableFromInline
    static func encode(
        any value: any Encodable,
        _ zoneID: CKRecordZone.ID?,
        _ forms: CloudKitRecordForms,
        _ userInfo: [CodingUserInfoKey: any Sendable]
    ) throws -> CKRecord {
        let encoder = CloudKitRecordEncoder(zoneID: zoneID)
        (encoder.forms, encoder.userInfo) = (forms, userInfo)
        return try encoder.encode(value)
    }

    /// Returns a new record for a model.
    @usableFromInline
    static func newRecord(
        _ type: String,
        _ name: String,
        _ zoneID: CKRecordZone.ID?,
        _ model: Any.Type
    ) throws -> CKRecord {
        let record = try newRecord(type, name, zoneID, of: model)
        if let problem = FieldName.problem(recordType: type) {
            throw EncodingError.invalidValue(
                "a \(model)",
                .init(codingPath: [], debugDescription: problem)
            )
        }
        return record
    }

    /// Returns a new record for any value; types of the other libraries can have names that no
    /// service accepts.
    static func newRecord(
        _ type: String,
        _ name: String,
        _ zoneID: CKRecordZone.ID?,
        of model: Any.Type
    ) throws -> CKRecord {
        guard !type.isEmpty, !name.isEmpty else { throw nameless(model) }
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID ?? .default)
        return CKRecord(recordType: type, recordID: recordID)
    }

    @usableFromInline
    static func encode<Model: CloudKitModel>(
        simple value: Model,
        _ record: CKRecord,
        _ userInfo: [CodingUserInfoKey: any Sendable],
        isClass: Bool
    ) throws -> CKRecord {
        let encoding = RecordEncoding(
            record: record,
            baseline: .none,
            // A model's fields have the same types, whichever encoder writes them.
            forms: .native,
            userInfo: userInfo,
            options: Model.fields.byKey,
            owners: isClass ? FieldOwners() : nil
        )
        encoding.model = Model.self
        try value.encode(to: encoding)
        return try encoding.finish()
    }
}
