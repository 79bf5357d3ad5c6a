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

/// The records that a graph of models was encoded into.
public struct EncodedGraph: Sendable {
    /// The identity of the root's record.
    public let rootID: CKRecord.ID

    /// All records of the graph, targets of references before their sources.
    public let records: [CKRecord]

    /// The records that a save must send: new ones, and known ones that changed.
    ///
    /// Known records that were children in the graph and are no longer in any of its lists come
    /// first: their references to the owner, and their parents, are cleared.
    public let changed: [CKRecord]

    /// Known records that the graph no longer reaches, in an order in which they can be deleted.
    public let orphans: [CKRecord.ID]

    /// References in known records to owners that no longer have them; they are cleared.
    let releases: Set<GraphRelease>
}

extension CloudKitGraphEncoder {
    /// Encodes a value of another API into records, the root's record last.
    ///
    /// - Parameters:
    ///   - dialect: Creates the dialect from a function that writes files of assets.
    ///   - root: Creates the root's node; nil when the root is not a node.
    /// - Returns: The records, targets of references before their sources.
    /// - Throws: ``CloudKitGraphError``.
    package func records<Dialect: GraphDialect>(
        dialect: (@escaping (Data) throws -> CKAsset) -> Dialect,
        root: (Dialect) -> GraphNode?
    ) throws -> [CKRecord] {
        let folder = AssetFolder(isRemovedWithObject: false)
        let dialect = dialect { try folder.asset(of: $0, named: "data") }
        guard let root = root(dialect) else { return [] }
        let graph = GraphEncoding(
            zoneID: zoneID,
            userInfo: userInfo,
            known: [],
            assets: folder,
            dialect: dialect
        )
        _ = try graph.encodeRoot(root)
        return graph.records
    }
}
