/// The results of an import.
struct ImportReport: Codable, Hashable {
    /// Zones that were created or existed.
    var zones = 0
    /// Records that were saved or deleted.
    var records = 0
    /// Files that were uploaded.
    var assets = 0
    /// Files of existing records that stay, because the export says nothing of their fields; nil for
    /// none, as in checkpoints of earlier versions.
    var keptAssets: Int?
    /// Lines that were not imported; each was reported.
    var rejected = 0
    /// Shares, which cannot be imported: people have to be invited again.
    var shares = 0
}
