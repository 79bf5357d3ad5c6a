package import CloudKit

// For an API whose types do not declare their records: every reference is followed.
extension CloudKitGraphDecoder {
    /// Fetches a record's references, all records that they lead to, and returns them with the
    /// record.
    package static func records(
        from root: CKRecord,
        in source: any CloudKitRecordSource
    ) async throws -> [CKRecord] {
        var loader = GraphLoader(source: source, progress: nil)
        return try await loader.load(from: root)
    }

    /// Decodes a value and follows references whatever the types of the properties.
    package static func decodeFollowing<Value: Decodable>(
        _ type: Value.Type,
        from records: [CKRecord],
        root: CKRecord
    ) throws -> Value {
        let graph = GraphDecoding(
            records: GraphRecords(records, isLoading: false),
            missing: .fail,
            userInfo: [:],
            followsReferences: true
        )
        return try graph.root(type, root.recordID)
    }
}
