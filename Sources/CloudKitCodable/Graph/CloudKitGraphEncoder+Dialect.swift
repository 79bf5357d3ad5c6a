package import CloudKit

extension CloudKitGraphEncoder {
    /// Makes the records of a value of another API, its own last.
    ///
    /// - Parameters:
    ///   - dialect: Makes the dialect from a function that writes files of assets.
    ///   - root: Makes the root's node; nil when the root is none.
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
