package import CloudKitFiles
public import Foundation

/// A field value that is a file, kept outside its record.
///
/// Saving a record uploads the file; fetching one downloads it to a file of the process, which goes
/// when the process ends. Only the bytes are kept, not the file's name.
open class CKAsset: NSObject, CKRecordValueProtocol, __CKRecordObjCValue, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// Where the file is; nil when it was not downloaded, as in the server record of a conflict.
    ///
    /// A downloaded file stays after the asset when its place was asked for. Downloaded files may
    /// take two gigabytes; then those go that were asked for least recently, but none within an hour.
    open var fileURL: URL? {
        guard let file else { return nil }
        let isThere = PrivateFiles.shared.use(file)
        return isThere || remote == nil ? file : nil
    }

    /// Where the file is, for one who reads it at once: it does not stay for that.
    package var unsharedFileURL: URL? { remote == nil ? fileURL : file }

    private let file: URL?

    /// The file as it was when the asset was made; nil when it was not there.
    package let stamp: FileStamp?

    /// What the server said of the file, for assets that came from it.
    let remote: RemoteAsset?

    /// Makes an asset of a local file, which the upload leaves in place.
    public init(fileURL: URL) {
        PrivateFiles.shared.use(fileURL)
        file = fileURL
        stamp = FileStamp(of: fileURL)
        remote = nil
    }

    /// Makes the asset of a fetched record.
    init(fileURL: URL?, remote: RemoteAsset) {
        file = fileURL
        stamp = fileURL.flatMap { FileStamp(of: $0) }
        self.remote = remote
    }

    /// The file's place.
    open override var description: String {
        "<CKAsset: \(file?.path ?? "not downloaded")>"
    }
}
