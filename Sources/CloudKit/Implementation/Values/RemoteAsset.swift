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

    init(wire: WireAsset, file: URL?) {
        self.wire = wire
        self.file = file
    }

    deinit {
        if let file { PrivateFiles.shared.release(file) }
    }
}
