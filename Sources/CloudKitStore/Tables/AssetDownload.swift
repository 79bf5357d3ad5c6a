/// When the bytes of an asset column come to the device.
public enum AssetDownload: String, Hashable, Sendable {
    /// With the row.
    case withRow
    /// When the app asks for them with ``CloudStore/downloadAssets(in:keys:)``; until then the
    /// column is NULL, and no edit of the row takes the asset from the server.
    case onDemand
}
