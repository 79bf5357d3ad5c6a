/// A file stored apart from its record.
///
/// A client writes the members of the upload's response (`fileChecksum`, `size`, `receipt`, …) and
/// reads `fileChecksum`, `size` and `downloadURL`.
public struct WireAsset: Hashable, Sendable, Codable {
    /// The checksum that identifies the contents.
    public var fileChecksum: String?
    /// The file's size in bytes.
    public var size: Int64?
    /// The proof that the file was uploaded; written, never read.
    public var receipt: String?
    /// The key that wraps the file's own key in encrypted databases.
    public var wrappingKey: String?
    /// The checksum that identifies the encrypted contents.
    public var referenceChecksum: String?
    /// The address to fetch the file from; read only.
    ///
    /// May contain `${f}`, a placeholder for any file name.
    public var downloadURL: String?

    /// Creates an asset from its known members.
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
