public import CloudKit
import Foundation

/// Decodes a value made of models from records in memory, without a request.
///
/// ```swift
/// let atlas = try CloudKitGraphDecoder().decode(Atlas.self, from: changedRecords, root: atlasID)
/// ```
///
/// A record is decoded once, however many references lead to it: every path to it yields the same
/// value, or the same instance of a class.
public struct CloudKitGraphDecoder: Sendable {
    /// The handling of references whose records are missing.
    public var missingRecords: MissingRecords

    /// The user info that `init(from:)` of the values can read.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    public init(missingRecords: MissingRecords = .fail) {
        self.missingRecords = missingRecords
    }

    /// Decodes the value of a root record.
    ///
    /// - Parameters:
    ///   - type: The type of the root.
    ///   - records: The records of the graph; additional records are ignored.
    ///   - rootID: The identity of the root's record.
    /// - Returns: The value.
    /// - Throws: ``CloudKitGraphError``.
    public func decode<Root: CloudKitModel>(
        _ type: Root.Type,
        from records: some Sequence<CKRecord>,
        root rootID: CKRecord.ID
    ) throws -> Root {
        let graph = decoding(of: records)
        return try graph.root(type, rootID)
    }

    /// Decodes the values of all records of a type, in the order of their names.
    ///
    /// - Throws: ``CloudKitGraphError``.
    public func decodeAll<Root: CloudKitModel>(
        _ type: Root.Type,
        from records: some Sequence<CKRecord>
    ) throws -> [Root] {
        let graph = decoding(of: records)
        return try graph.recordIDs(ofType: Root.recordType).map { try graph.root(type, $0) }
    }

    /// Returns the decoding of a complete set of records.
    private func decoding(of records: some Sequence<CKRecord>) -> GraphDecoding {
        GraphDecoding(
            records: GraphRecords(records, isLoading: false),
            missing: missingRecords,
            userInfo: userInfo
        )
    }
}

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
