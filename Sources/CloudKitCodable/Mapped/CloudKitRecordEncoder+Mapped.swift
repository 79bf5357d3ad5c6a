public import CloudKit

extension CloudKitRecordEncoder {
    /// Makes the record of a value whose mapping is written out.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode<Model: CloudKitMappedModel>(_ value: Model) throws -> CKRecord {
        // A subclass without a mapping of its own has its superclass's; a value that says itself
        // which record it is may bring that record's system fields. To look the conformance up
        // for every value would cost as much as storing a field.
        guard type(of: value) == Model.mappedType, !Model._isRepresentable else {
            let value: any Encodable = value
            return try encode(value)
        }
        let record = try record(type: Model.recordType, name: value.recordName, of: value)
        var fields = CloudKitFieldWriter(record, .none, Model.self, self)
        try value.writeFields(to: &fields)
        return try fields.finish()
    }
}
