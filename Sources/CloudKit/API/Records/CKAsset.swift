public import Foundation

/// A field value that is a file, kept outside its record.
///
/// Saving a record uploads the file; fetching one downloads it to a temporary file. Only the bytes
/// are kept, not the file's name.
open class CKAsset: NSObject, CKRecordValueProtocol, __CKRecordObjCValue, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// Where the file is; nil when it was not downloaded, as in the server record of a conflict.
    open var fileURL: URL? { file }

    private let file: URL?

    /// What the server said of the file, for assets that came from it.
    let remote: RemoteAsset?

    /// Makes an asset of a local file, which the upload leaves in place.
    public init(fileURL: URL) {
        file = fileURL
        remote = nil
    }

    /// Makes the asset of a fetched record.
    init(fileURL: URL?, remote: RemoteAsset) {
        file = fileURL
        self.remote = remote
    }

    /// The file's place.
    open override var description: String {
        "<CKAsset: \(fileURL?.path ?? "not downloaded")>"
    }
}
