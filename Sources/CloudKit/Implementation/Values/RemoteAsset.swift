import CloudKitFiles
import CloudKitWire
import Foundation

/// The server's description of an asset, and the downloaded file, which is deleted when nothing can
/// refer to it.
final class RemoteAsset: Sendable {
    /// The server's description of the asset.
    let wire: WireAsset

    /// The downloaded file; deleted with this object, unless its URL was read.
    private let file: URL?

    /// The files to which it belongs.
    let files: PrivateFiles

    init(wire: WireAsset, file: URL?, of files: PrivateFiles = .shared) {
        self.wire = wire
        self.file = file
        self.files = files
    }

    deinit {
        if let file { files.release(file) }
    }
}
