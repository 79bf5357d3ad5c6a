/// A file kept outside its record.
///
/// A client writes what the upload answered (`fileChecksum`, `size`, `receipt`, …) and reads
/// `fileChecksum`, `size` and `downloadURL`.
public struct WireAsset: Hashable, Sendable, Codable {
    /// Identifies the contents.
    public var fileChecksum: String?
    /// Bytes of the file.
    public var size: Int64?
    /// Proves that the file was uploaded; written, never read.
    public var receipt: String?
    /// Key that wraps the file's own key in encrypted databases.
    public var wrappingKey: String?
    /// Identifies the encrypted contents.
    public var referenceChecksum: String?
    /// Where to fetch the file; read only.
    ///
    /// May contain `${f}`, which stands for any file name.
    public var downloadURL: String?

    /// Makes an asset from what is known of it.
    public init(
        fileChecksum: String? = nil,
        size: Int64? = nil,
        receipt: String? = nil,
        wrappingKey: String? = nil,
        referenceChecksum: String? = nil,
        downloadURL: String? = nil
    ) {
        self.fileChecksum = fileChecksum
        self.size = size
        self.receipt = receipt
        self.wrappingKey = wrappingKey
        self.referenceChecksum = referenceChecksum
        self.downloadURL = downloadURL
    }
}
