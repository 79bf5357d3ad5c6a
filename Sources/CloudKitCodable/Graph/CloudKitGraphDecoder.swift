public import CloudKit
import Foundation

/// Reads a value made of models from records that are at hand, without a request.
///
/// ```swift
/// let atlas = try CloudKitGraphDecoder().decode(Atlas.self, from: changedRecords, root: atlasID)
/// ```
///
/// A record is decoded once, however many references lead to it: two paths to it give the same
/// value, or the same instance of a class.
public struct CloudKitGraphDecoder: Sendable {
    /// What is done about references whose records are not there.
    public var missingRecords: MissingRecords

    /// What `init(from:)` of the values can ask for.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    public init(missingRecords: MissingRecords = .fail) {
        self.missingRecords = missingRecords
    }

    /// Reads the value of a root record.
    ///
    /// - Parameters:
    ///   - type: The type of the root.
    ///   - records: The records of the graph; others among them do no harm.
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

    /// Reads the values of all records of a type, in the order of their names.
    ///
    /// - Throws: ``CloudKitGraphError``.
    public func decodeAll<Root: CloudKitModel>(
        _ type: Root.Type,
        from records: some Sequence<CKRecord>
    ) throws -> [Root] {
        let graph = decoding(of: records)
        return try graph.recordIDs(ofType: Root.recordType).map { try graph.root(type, $0) }
    }

    /// The decoding of records beside which there are no others.
    private func decoding(of records: some Sequence<CKRecord>) -> GraphDecoding {
        GraphDecoding(
            records: GraphRecords(records, isLoading: false),
            missing: missingRecords,
            userInfo: userInfo
        )
    }
}
