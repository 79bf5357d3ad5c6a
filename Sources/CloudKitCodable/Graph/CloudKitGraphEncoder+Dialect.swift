package import CloudKit

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
