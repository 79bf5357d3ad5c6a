public import CloudKit
public import Foundation

extension CloudKitRecordDestination {
    /// Saves a value made of models: one record for each model, joined by references.
    ///
    /// ```swift
    /// let graph = try await database.save(atlas, in: zoneID)
    /// ```
    ///
    /// Requests stay within CloudKit's limits, each of them is atomic in a custom zone, and targets
    /// of references are sent before their sources: when a later request fails, the saved records are
    /// complete in themselves. The same value can be saved again.
    ///
    /// - Parameters:
    ///   - root: The value.
    ///   - zoneID: The zone of the records.
    ///   - known: Records that the server has, as they were fetched or saved: only differences from
    ///     them are sent.
    ///   - savePolicy: The policy for records that have changed on the server.
    ///   - deletingOrphans: Whether known records that the value does not reach are deleted. Otherwise
    ///     they stay; former children among them lose their reference to the owner, and their parent.
    ///   - progress: Counts the saved records, and cancels the save when cancelled.
    /// - Returns: The value with the records as the server now has them.
    /// - Throws: ``CloudKitGraphError`` before anything is sent; the `CKError` of the record that
    ///   could not be saved, or `CKError.partialFailure` with the errors of several.
    @discardableResult
    public func save<Root: CloudKitModel>(
        _ root: Root,
        in zoneID: CKRecordZone.ID,
        onto known: [CKRecord] = [],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        deletingOrphans: Bool = false,
        progress: Progress? = nil
    ) async throws -> CloudKitGraph<Root> {
        let rootID = try GraphEncoding.identity(of: GraphNode(root), in: zoneID, at: .root)
        var graph = CloudKitGraph(root: root, rootID: rootID, records: known)
        try await save(
            &graph,
            savePolicy: savePolicy,
            deletingOrphans: deletingOrphans,
            progress: progress
        )
        return graph
    }

    /// Saves the edits of a graph: only records whose values changed are sent.
    ///
    /// When saving fails part of the way, the graph holds the records that were saved before, and,
    /// where requests are not atomic, those that did not fail. A save whose response was lost can be
    /// repeated, with the same value or an edited one: the next save of the graph first looks up
    /// which of the records the server saved, provided that the destination is also a
    /// ``CloudKitRecordSource``. Without the graph, records that the server has exactly as they are
    /// sent count as saved.
    ///
    /// - Parameters:
    ///   - graph: The graph; afterwards it holds the records as the server now has them.
    ///   - savePolicy: The policy for records that have changed on the server.
    ///   - deletingOrphans: Whether records that the value no longer reaches are deleted. Otherwise
    ///     they stay; former children among them lose their reference to the owner, and their parent.
    ///   - progress: Counts the saved records, and cancels the save when cancelled.
    /// - Throws: The errors of ``save(_:in:onto:savePolicy:deletingOrphans:progress:)``.
    public func save<Root: CloudKitModel>(
        _ graph: inout CloudKitGraph<Root>,
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        deletingOrphans: Bool = false,
        progress: Progress? = nil
    ) async throws {
        if !graph.unanswered.isEmpty, let source = self as? any CloudKitRecordSource {
            graph.settle(try await source.records(withIDs: Array(graph.unanswered.recordIDs)))
        }
        let assets = AssetFolder(isRemovedWithObject: true)
        let encoder = CloudKitGraphEncoder(zoneID: graph.rootID.zoneID)
        let encoded = try encoder.encode(
            graph.root,
            onto: graph.records,
            former: graph.former,
            assets: assets
        )
        let saver = GraphSaver(destination: self, savePolicy: savePolicy, progress: progress)
        let outcome = await saver.save(
            encoded,
            resending: Set(graph.unanswered.records.keys),
            deleting: deletingOrphans ? encoded.orphans : []
        )
        graph.update(
            with: outcome,
            of: encoded,
            assets: assets,
            deletesOrphans: deletingOrphans
        )
        if let error = outcome.error { throw error }
    }

    /// Deletes the records of a graph: those of its models, and other records that it knows.
    ///
    /// Records are deleted before those that they refer to.
    ///
    /// - Throws: The `CKError` of the record that could not be deleted, or `CKError.partialFailure`
    ///   with the errors of several.
    public func delete<Root: CloudKitModel>(
        _ graph: CloudKitGraph<Root>,
        progress: Progress? = nil
    ) async throws {
        let saver = GraphSaver(destination: self, savePolicy: .changedKeys, progress: progress)
        let nothing = EncodedGraph(
            rootID: graph.rootID,
            records: [],
            changed: [],
            orphans: [],
            releases: []
        )
        let recordIDs = graph.records.reversed().map(\.recordID)
        if let error = await saver.save(nothing, deleting: recordIDs).error { throw error }
    }
}
