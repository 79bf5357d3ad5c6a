public import CloudKit

extension CloudKitRecordDecoder {
    /// Reads a value whose mapping is written out.
    ///
    /// - Throws: `DecodingError` with the path to the field, and a message that says which record
    ///   and field, what was expected and what was found.
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
