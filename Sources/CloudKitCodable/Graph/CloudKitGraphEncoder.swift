public import CloudKit
import Foundation

/// Makes records of a value made of models: one record for each model, joined by references.
///
/// ```swift
/// let graph = try CloudKitGraphEncoder(zoneID: zoneID).encode(atlas)
/// // graph.records: every country and time zone, then the atlas that refers to them
/// ```
///
/// A model that is reached on several paths is one record. Instances of classes may refer to each
/// other in circles.
public struct CloudKitGraphEncoder: Sendable {
    /// The zone of the records: references do not leave it.
    public var zoneID: CKRecordZone.ID

    /// What `encode(to:)` of the values can ask for.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder for a zone.
    public init(zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
    }

    /// Makes the records of a value.
    ///
    /// - Parameters:
    ///   - root: The value.
    ///   - known: Records that the server has, as they were fetched or saved. A model whose record
    ///     is among them goes onto a copy of it: only what differs is touched.
    /// - Returns: The records, in an order in which they can be saved.
    /// - Throws: ``CloudKitGraphError``.
    public func encode<Root: CloudKitModel>(
        _ root: Root,
        onto known: some Sequence<CKRecord> = []
    ) throws -> EncodedGraph {
        try encode(root, onto: known, assets: AssetFolder(isRemovedWithObject: false))
    }

    /// Makes the records of a value, with the files of assets in a folder.
    ///
    /// Known records may name owners in another graph, which `former` tells.
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
