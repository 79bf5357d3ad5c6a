import CloudKitBasics

/// An error for a record that holds an asset whose bytes are missing.
struct MissingAsset: Error, CustomStringConvertible {
    let checksum: [UInt8]

    var description: String {
        "The file of the asset with the SHA-256 \(Hexadecimal.text(checksum)) is missing on the "
            + "server, though a record has it; bring it back from a backup, or upload it again"
    }
}

/// An error for asset bytes that cannot be read or have changed.
struct UnreadableAsset: Error {
    let error: StorageError
}
