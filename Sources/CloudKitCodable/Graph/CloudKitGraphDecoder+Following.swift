package import CloudKit

// For an API whose types do not say which records they are: references are followed as they come.
extension CloudKitGraphDecoder {
    /// Fetches all records that a record leads to, and the record itself.
    package static func records(
        from root: CKRecord,
        in source: any CloudKitRecordSource
    ) async throws -> [CKRecord] {
        var loader = GraphLoader(source: source, progress: nil)
        return try await loader.load(from: root)
    }

    /// Reads a value, following references whatever the types of the properties.
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
