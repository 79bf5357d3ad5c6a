import CloudKitFiles
import CloudKitWire
import Foundation

/// What the server said of an asset, and the downloaded file that goes when nobody can know it.
final class RemoteAsset: Sendable {
    /// The asset as the server described it.
    let wire: WireAsset

    /// The downloaded file; removed with this object, unless its place was handed out.
    private let file: URL?

    init(wire: WireAsset, file: URL?) {
        self.wire = wire
        self.file = file
    }

    deinit {
        if let file { PrivateFiles.shared.release(file) }
    }
}
