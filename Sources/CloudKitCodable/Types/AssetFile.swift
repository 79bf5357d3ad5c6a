import CloudKit
import Foundation

/// The temporary files of assets that are encoded from values.
///
/// Each is in a folder of its own: two encodings of one value do not write over each other's file,
/// which may be waiting for its upload.
enum AssetFile {
    private static var folder: URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(
            "CloudKitCodable",
            isDirectory: true
        )
    }

    /// Writes a file and makes its asset.
    static func asset(of data: Data, named name: String) throws -> CKAsset {
        let place = folder.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let file = place.appendingPathComponent(safe(name), isDirectory: false)
        try data.write(to: file, options: .atomic)
        return CKAsset(fileURL: file)
    }

    /// Removes the files of a record that were made here; others stay.
    static func remove(of record: CKRecord) {
        for key in record.allKeys() {
            let value = record.object(forKey: key)
            let assets = (value as? CKAsset).map { [$0] } ?? (value as? [Any]) ?? []
            for case let asset as CKAsset in assets {
                guard let place = asset.fileURL?.deletingLastPathComponent(),
                    place.deletingLastPathComponent().path == folder.path
                else { continue }
                try? FileManager.default.removeItem(at: place)
            }
        }
    }

    /// A name without parts that lead elsewhere, short enough for every file system.
    private static func safe(_ name: String) -> String {
        let name = name.replacing("/", with: "_").replacing("\0", with: "_")
        return name.isEmpty || name == "." || name == ".." ? "asset" : String(name.suffix(80))
    }
}
