package import CloudKitFiles
public import Foundation

/// A field value that holds a file, stored apart from its record.
///
/// ```swift
/// note["photo"] = CKAsset(fileURL: photoURL)
/// let saved = try await database.save(note)
/// let photo = (saved["photo"] as? CKAsset)?.fileURL
/// ```
///
/// Saving a record uploads the file; fetching one downloads it to a temporary file, which is
/// deleted when the process ends. Only the bytes are stored, not the file's name.
open class CKAsset: NSObject, CKRecordValueProtocol, __CKRecordObjCValue, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The file's URL; nil if it was not downloaded, as in the server record of a conflict.
    ///
    /// A downloaded file outlives the asset if its URL was read. Downloaded files may take up two
    /// gigabytes; beyond that, the files whose URLs were read least recently are deleted, but none
    /// within an hour.
    open var fileURL: URL? {
        guard let file else { return nil }
        let isThere = (remote?.files ?? .shared).use(file)
        return isThere || remote == nil ? file : nil
    }

    /// The file's URL, for immediate reading: it does not make the file outlive the asset.
    package var unsharedFileURL: URL? { remote == nil ? fileURL : file }

    private let file: URL?

    /// The file's size and date when the asset was created; nil if there was no file.
    package let stamp: FileStamp?

    /// The server's description of the file, for assets that came from it.
    let remote: RemoteAsset?

    /// Creates an asset from a local file, which the upload leaves in place.
    public init(fileURL: URL) {
        PrivateFiles.shared.use(fileURL)
        file = fileURL
        stamp = FileStamp(of: fileURL)
        remote = nil
    }

    /// Creates the asset of a fetched record.
    init(fileURL: URL?, remote: RemoteAsset) {
        file = fileURL
        stamp = fileURL.flatMap { FileStamp(of: $0) }
        self.remote = remote
    }

    /// A textual representation with the file's path.
    open override var description: String {
        "<CKAsset: \(file?.path ?? "not downloaded")>"
    }
}
