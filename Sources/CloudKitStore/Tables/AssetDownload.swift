/// The time at which an asset column's bytes are downloaded.
public enum AssetDownload: String, Hashable, Sendable {
    /// The bytes arrive with the row.
    case withRow
    /// The bytes are downloaded by ``CloudStore/downloadAssets(in:keys:)``; until then the column
    /// is NULL, and edits of the row do not remove the asset from the server.
    case onDemand
}
