public import CloudKit
import Foundation

/// Encodes a value made of models into records: one for each model, joined by references.
///
/// ```swift
/// let graph = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas)
/// // graph.records: every country and time zone, then the atlas that refers to them
/// ```
///
/// A model that is reached on several paths is one record. Instances of classes may refer to each
/// other in cycles.
public struct CloudKitGraphEncoder: Sendable {
    /// The zone of the records; references do not leave it.
    public var zoneID: CKRecordZone.ID

    /// The user info that `encode(to:)` of the values can read.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder for a zone.
    public init(zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
    }

    /// Encodes a value into records.
    ///
    /// - Parameters:
    ///   - root: The value.
    ///   - known: Records that the server has, as they were fetched or saved. A model whose record is
    ///     among them is encoded into a copy of it: only fields that differ are touched.
    /// - Returns: The records, in an order in which they can be saved.
    /// - Throws: ``CloudKitGraphError``.
    public func encode<Root: CloudKitModel>(
        _ root: Root,
        onto known: some Sequence<CKRecord> = []
    ) throws -> EncodedGraph {
        try encode(root, onto: known, assets: AssetFolder(isRemovedWithObject: false))
    }

    /// Encodes a value into records, with the files of assets in a folder.
    ///
    /// Known records may refer to owners in another graph; `former` lists these references.
    func encode<Root: CloudKitModel>(
        _ root: Root,
        onto known: some Sequence<CKRecord>,
        former: Set<GraphRelease> = [],
        assets: AssetFolder
    ) throws -> EncodedGraph {
        let graph = GraphEncoding(
            zoneID: zoneID,
            userInfo: userInfo,
            known: known,
            assets: assets
        )
        graph.former = former
        let rootID = try graph.encodeRoot(GraphNode(root))
        return EncodedGraph(
            rootID: rootID,
            records: graph.records,
            changed: graph.changed,
            orphans: graph.orphans,
            releases: graph.releases
        )
    }
}
