public import CloudKit
public import Foundation

/// A source from which graphs are loaded: a database, or records stored elsewhere.
public protocol CloudKitRecordSource: Sendable {
    /// Fetches records; the result has an entry for every identity.
    ///
    /// - Throws: When the request fails as a whole; the failure of a single record is its entry.
    func records(
        withIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>]

    /// Fetches the records of a type that refer to one of several records through a field.
    ///
    /// - Throws: When the request fails.
    func records(
        ofType recordType: CKRecord.RecordType,
        referringTo recordIDs: [CKRecord.ID],
        via field: CKRecord.FieldKey
    ) async throws -> [CKRecord]
}

/// A destination to which graphs are saved: a database, or records stored elsewhere.
public protocol CloudKitRecordDestination: Sendable {
    /// Saves and deletes records, all of them or none; the result has an entry for every item.
    ///
    /// - Throws: When the request fails as a whole; the failure of a single item is its entry.
    func modify(
        saving records: [CKRecord],
        deleting recordIDs: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    )
}

extension CloudKitRecordSource {
    /// Loads a value made of models: one batched request for each level of references, and one query
    /// for each level and kind of children.
    ///
    /// ```swift
    /// let graph = try await database.graph(Atlas.self, for: atlasID)
    /// print(graph.root.countries.count)
    /// ```
    ///
    /// A record that several references lead to is fetched once; cycles of references are allowed.
    ///
    /// The models' `init(from:)` reads only the fetched records. It may run more than once on a
    /// record: when it requests records that are not loaded yet, they are fetched, and it runs again.
    ///
    /// - Parameters:
    ///   - type: The type of the root.
    ///   - rootID: The identity of the root's record.
    ///   - missingRecords: The handling of references whose records are missing.
    ///   - progress: Counts the fetched records, and cancels the load when cancelled.
    /// - Returns: The value, and the records that a later save is based on.
    /// - Throws: ``CloudKitGraphError``, the source's errors, or `CancellationError`.
    public func graph<Root: CloudKitModel>(
        _ type: Root.Type,
        for rootID: CKRecord.ID,
        missingRecords: MissingRecords = .fail,
        progress: Progress? = nil
    ) async throws -> CloudKitGraph<Root> {
        var loader = GraphLoader(source: self, progress: progress)
        let (root, records) = try await loader.load(type, rootID, missing: missingRecords)
        return CloudKitGraph(root: root, rootID: rootID, records: records)
    }
}
