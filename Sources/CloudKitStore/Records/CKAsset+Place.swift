import CloudKit

extension CKAsset {
    /// The file's URL, for a caller that reads it immediately and does not pass it on.
    var place: URL? {
        #if canImport(Darwin)
        fileURL
        #else
        unsharedFileURL
        #endif
    }
}
