import CloudKitWire
import Foundation

/// What the server said of an asset, and the downloaded file that goes when nobody uses it.
final class RemoteAsset: Sendable {
    /// The asset as the server described it.
    let wire: WireAsset

    /// The temporary file; removed with this object.
    private let file: URL?

    init(wire: WireAsset, file: URL?) {
        self.wire = wire
        self.file = file
    }

    deinit {
        // A file that the app has moved away is simply not there any more.
        if let file { try? FileManager.default.removeItem(at: file) }
    }
}
