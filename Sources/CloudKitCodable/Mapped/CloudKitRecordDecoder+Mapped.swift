public import CloudKit

extension CloudKitRecordDecoder {
    /// Decodes a value with an explicit mapping.
    ///
    /// - Throws: `DecodingError` with the path to the field; its message names the record and the
    ///   field, the expected type and the type that was found.
    public func decode<T: CloudKitMappedModel>(
        _ type: T.Type,
        from record: CKRecord
    ) throws -> T {
        guard type.mappedType == type, !type._isCodedByHand else {
            return try decode(anyModel: type, from: record)
        }
        var fields = CloudKitFieldReader(record, type, self)
        return try T(fields: &fields)
    }

    private func decode<T: Decodable>(anyModel type: T.Type, from record: CKRecord) throws -> T {
        try decode(type, from: record)
    }
}
