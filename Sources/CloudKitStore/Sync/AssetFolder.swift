import Foundation
import GRDB

/// The folder for copies of assets while they are sent: beside the database, and accessible only to
/// its user.
enum AssetFolder {
    private static var mode: [FileAttributeKey: Any] { [.posixPermissions: 0o700] }

    /// Returns the folder of one store of a file; for a database in memory, it is in the system's
    /// temporary folder.
    static func url(beside database: any DatabaseWriter, _ name: String) -> URL {
        guard let path = SyncElection.path(of: database) else {
            return FileManager.default.temporaryDirectory
                .appending(path: "CloudKitStore-\(name)", directoryHint: .isDirectory)
        }
        return URL(filePath: path + "-cloudkit-assets", directoryHint: .isDirectory)
            .appending(path: name, directoryHint: .isDirectory)
    }

    /// Creates the folder of the store that syncs a file, and removes leftovers of previous stores,
    /// which may have been killed.
    static func take(_ folder: URL) throws {
        let parent = folder.deletingLastPathComponent()
        if parent.lastPathComponent.hasSuffix("-cloudkit-assets") {
            try make(parent)
            let files = FileManager.default
            for name in try files.contentsOfDirectory(atPath: parent.path)
            where name != folder.lastPathComponent {
                // What stays is tried again at the next start.
                try? files.removeItem(at: parent.appending(path: name))
            }
        }
        try make(folder)
    }

    /// Removes the folder, and the enclosing one if it is empty.
    static func remove(_ folder: URL) {
        let files = FileManager.default
        // What stays is removed at the next start.
        try? files.removeItem(at: folder)
        let parent = folder.deletingLastPathComponent()
        guard parent.lastPathComponent.hasSuffix("-cloudkit-assets"),
            // A folder that cannot be listed stays.
            let rest = try? files.contentsOfDirectory(atPath: parent.path), rest.isEmpty
        else { return }
        try? files.removeItem(at: parent)
    }

    private static func make(_ folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: mode
        )
    }
}
