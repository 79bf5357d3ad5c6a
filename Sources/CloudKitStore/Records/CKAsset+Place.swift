import CloudKit

extension CKAsset {
    /// Where the file is, for one who reads it at once and does not hand the place on.
    var place: URL? {
        #if canImport(Darwin)
        fileURL
        #else
        unsharedFileURL
        #endif
    }
}
