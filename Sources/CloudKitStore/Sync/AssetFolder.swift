import CloudKit
import CloudKitFiles
import Foundation
import GRDB

/// The folder for the files of assets while they are sent and received: beside the database, and
/// accessible only to its user.
struct AssetFolder: Sendable {
    /// The folder for copies of assets that are sent.
    let url: URL

    /// The enclosing folder, which stores of the same file share; nil for a database in memory.
    private let parent: URL?

    /// The received files; nil for a database in memory, which has those of the process.
    private let downloads: PrivateFiles?

    /// Creates the object of one store of a file; for a database in memory, the folder is among the
    /// process's own files.
    init(beside database: any DatabaseWriter, _ name: String) throws {
        guard let path = SyncElection.path(of: database) else {
            url = try PrivateFiles.shared.folder()
                .appending(path: "CloudKitStore-\(name)", directoryHint: .isDirectory)
            (parent, downloads) = (nil, nil)
            return
        }
        let parent = URL(filePath: path + "-cloudkit-assets", directoryHint: .isDirectory)
        url = parent.appending(path: name, directoryHint: .isDirectory)
        self.parent = parent
        downloads = PrivateFiles(in: parent)
    }

    /// Returns a container that downloads into the folder.
    ///
    /// Apple's framework has its own folder, inside that of the app.
    func container(_ container: CKContainer) -> CKContainer {
        #if canImport(Darwin) && !PORTABLE_CLOUDKIT
        container
        #else
        downloads.map(container.downloading) ?? container
        #endif
    }

    /// Creates the folder of the store that syncs a file, and removes leftovers of previous stores,
    /// which may have been killed.
    func take() throws {
        if let parent {
            try make(parent)
            try PrivateFiles.clean(parent, except: url.lastPathComponent)
        }
        try make(url)
    }

    /// Removes the folder, and the enclosing one if it is empty.
    func remove() {
        let files = FileManager.default
        downloads?.remove()
        // What stays is removed at the next start.
        try? files.removeItem(at: url)
        guard let parent,
            // A folder that cannot be listed stays.
            let rest = try? files.contentsOfDirectory(atPath: parent.path), rest.isEmpty
        else { return }
        try? files.removeItem(at: parent)
    }

    private func make(_ folder: URL) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }
}
