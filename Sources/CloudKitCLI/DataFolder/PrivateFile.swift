import Foundation

/// Files that hold secrets.
enum PrivateFile {
    /// Writes a new file that only its owner can read, replacing one with the same name.
    ///
    /// - Throws: `CommandFailure` when the file cannot be written.
    static func write(_ text: String, to path: String) throws {
        let manager = FileManager.default
        let temporary = "\(path).\(UUID().uuidString)"
        let isMade = manager.createFile(
            atPath: temporary,
            contents: Data(text.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        // Otherwise a power failure could leave an empty file in place of the previous one.
        let isSynced =
            isMade
            // A file that cannot be synced is not put in place.
            && (try? FileHandle(forUpdating: URL(fileURLWithPath: temporary)).synchronize()) != nil
        guard isSynced, rename(temporary, path) == 0 else {
            try? manager.removeItem(atPath: temporary)
            throw CommandFailure(unusable: "\(path) cannot be written")
        }
    }
}
