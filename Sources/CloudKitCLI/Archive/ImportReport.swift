/// The results of an import.
struct ImportReport: Codable, Hashable {
    /// Zones that were created or existed.
    var zones = 0
    /// Records that were saved or deleted.
    var records = 0
    /// Files that were uploaded.
    var assets = 0
    /// Lines that were not imported; each was reported.
    var rejected = 0
    /// Shares, which cannot be imported: people have to be invited again.
    var shares = 0
}
