import CloudKit
import CloudKitFiles
import Foundation
import Synchronization

/// A folder for the files of assets that are encoded from values, within the process's folder.
///
/// Each file has a folder of its own: two encodings of one value do not overwrite each other's file,
/// which may be waiting for its upload.
final class AssetFolder: Sendable {
    private let name = UUID().uuidString
    private let isRemovedWithObject: Bool
    private let isMade = Atomic(false)

    /// Creates the object of a folder; the folder itself is created with the first file.
    ///
    /// - Parameter isRemovedWithObject: Whether the files are deleted with the object.
    init(isRemovedWithObject: Bool) {
        self.isRemovedWithObject = isRemovedWithObject
    }

    deinit {
        // There is no folder when no value became a file.
        guard isRemovedWithObject, isMade.load(ordering: .relaxed), let place = try? place() else {
            return
        }
        // Temporary files that stay are removed by the system.
        try? FileManager.default.removeItem(at: place)
    }

    private func place() throws -> URL {
        try PrivateFiles.shared.folder().appendingPathComponent(name, isDirectory: true)
    }

    /// Writes a file and returns its asset.
    func asset(of data: Data, named name: String) throws -> CKAsset {
        let inner = try place().appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let file = inner.appendingPathComponent(Self.safe(name), isDirectory: false)
        isMade.store(true, ordering: .relaxed)
        try data.write(to: file, options: .atomic)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: file.path
        )
        return CKAsset.noting(file)
    }

    /// Returns a name without parts that lead elsewhere, short enough for every file system.
    private static func safe(_ name: String) -> String {
        let name = name.replacing("/", with: "_").replacing("\0", with: "_")
        return name.isEmpty || name == "." || name == ".." ? "asset" : String(name.suffix(80))
    }
}
