import CloudKitFiles

/// The names of files in an archive, the same as in a server's folder.
enum BackupNames {
    static let database = "cloud.sqlite"
    /// The folders for the parts of archives in progress.
    static let folders = ProcessFolder.Names(
        prefix: ".cloudkit-backup-",
        unlockedPrefix: ".cloudkit-new-backup-"
    )

    /// Returns the name of an asset's file.
    static func asset(_ checksum: [UInt8]) -> String {
        let name = FileAssetStorage.name(of: checksum)
        return "assets/\(name.prefix(2))/\(name)"
    }

    /// Returns the checksum of an asset; nil for the name of another file.
    static func checksum(_ name: String) -> [UInt8]? {
        let last = name.split(separator: "/").last.map(String.init) ?? ""
        guard let checksum = FileAssetStorage.checksum(named: last), asset(checksum) == name else {
            return nil
        }
        return checksum
    }
}
