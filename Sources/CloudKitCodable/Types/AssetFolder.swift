import CloudKit
import Foundation

/// A temporary folder for the files of assets that are encoded from values.
///
/// Each file is in a folder of its own: two encodings of one value do not write over each other's
/// file, which may be waiting for its upload.
final class AssetFolder: Sendable {
    private let place: URL
    private let isRemovedWithObject: Bool

    /// Makes a folder's object; the folder itself comes with the first file.
    ///
    /// - Parameter isRemovedWithObject: Whether the files go when nobody holds the object.
    init(isRemovedWithObject: Bool) {
        place = FileManager.default.temporaryDirectory
            .appendingPathComponent("CloudKitCodable", isDirectory: true)
            .appendingPathComponent(UUID().uuidString, isDirectory: true)
        self.isRemovedWithObject = isRemovedWithObject
    }

    deinit {
        // There is no folder when no value became a file.
        if isRemovedWithObject { try? FileManager.default.removeItem(at: place) }
    }

    /// Writes a file and makes its asset.
    func asset(of data: Data, named name: String) throws -> CKAsset {
        let inner = place.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let file = inner.appendingPathComponent(Self.safe(name), isDirectory: false)
        try data.write(to: file, options: .atomic)
        return CKAsset(fileURL: file)
    }

    /// A name without parts that lead elsewhere, short enough for every file system.
    private static func safe(_ name: String) -> String {
        let name = name.replacing("/", with: "_").replacing("\0", with: "_")
        return name.isEmpty || name == "." || name == ".." ? "asset" : String(name.suffix(80))
    }
}
