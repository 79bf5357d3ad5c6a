public import CloudKit
public import Foundation

extension CloudKitRecordDestination {
    /// Saves a value made of models: one record for each model, joined by references.
    ///
    /// ```swift
    /// let graph = try await database.save(atlas, in: zoneID)
    /// ```
    ///
    /// Requests stay within CloudKit's limits, each of them is atomic in a zone of your own, and
    /// targets of references go before their sources: when a later request fails, what was saved is
    /// complete in itself. The same value can be saved again.
    ///
    /// - Parameters:
    ///   - root: The value.
    ///   - zoneID: The zone of the records.
    ///   - known: Records that the server has, as they were fetched or saved: only what differs
    ///     from them is sent.
    ///   - savePolicy: What is done about records that the server has otherwise.
    ///   - deletingOrphans: Whether known records that the value does not reach are deleted. Else
    ///     they stay; those that were children in it lose their reference to the owner, and their
    ///     parent.
    ///   - progress: Counts the records that are saved, and cancels the saving when cancelled.
    /// - Returns: The value with the records as the server has them now.
    /// - Throws: ``CloudKitGraphError`` before anything is sent; `CKError` of the record that could
    ///   not be saved, or `CKError.partialFailure` with the errors of several.
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

    /// Saves what was edited in a graph: only records whose values changed are sent.
    ///
    /// When saving fails half way, the graph holds the records that were saved before, and those that
    /// did not fail where requests are not atomic. A save whose answer was lost can be repeated, with
    /// the value as it was or edited again: the next save of the graph looks first which of the
    /// records the server took, where the destination is a ``CloudKitRecordSource`` too. Without the
    /// graph records that the server has exactly as they are sent count as saved.
    ///
    /// - Parameters:
    ///   - graph: The graph; afterwards it holds the records as the server has them now.
    ///   - savePolicy: What is done about records that the server has otherwise.
    ///   - deletingOrphans: Whether records that the value does not reach any more are deleted. Else
    ///     they stay; those that were children in it lose their reference to the owner, and their
    ///     parent.
    ///   - progress: Counts the records that are saved, and cancels the saving when cancelled.
    /// - Throws: As ``save(_:in:onto:savePolicy:deletingOrphans:progress:)`` does.
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

    /// Deletes the records of a graph: those of its models, and those that it knows from before.
    ///
    /// Records go before those that they refer to.
    ///
    /// - Throws: `CKError` of the record that could not be deleted, or `CKError.partialFailure` with
    ///   the errors of several.
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
