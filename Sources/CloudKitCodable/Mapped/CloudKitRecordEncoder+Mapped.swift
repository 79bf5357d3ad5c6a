public import CloudKit

extension CloudKitRecordEncoder {
    /// Makes the record of a value whose mapping is written out.
    ///
    /// - Throws: ``CloudKitRecordEncodingError``, or `EncodingError` with the path to the value.
    public func encode<Model: CloudKitMappedModel>(_ value: Model) throws -> CKRecord {
        let traits = TypeTraits.of(type(of: value))
        guard traits.mapped != nil, !traits.isRepresentable else {
            let value: any Encodable = value
            return try encode(value)
        }
        let record = try record(type: Model.recordType, name: value.recordName, of: value)
        var fields = CloudKitFieldWriter(record, .none, Model.self, self)
        try value.writeFields(to: &fields)
        return try fields.finish()
    }
}
