import ArgumentParser
import CloudKitServerCore
import CloudKitServerSQLite
import Foundation

#if S3
import CloudKitServerS3
#endif

/// The place of a server's assets outside of its data folder, such as `s3://bucket/prefix`.
struct AssetLocation {
    /// The ways in which a URL names a bucket: in the path for a server of one's own and in the host name at
    /// Amazon, or one of both.
    enum Addressing: String, ExpressibleByArgument, CaseIterable {
        case auto, path, host

        /// The variable that commands without that option read.
        private static let variable = "CLOUDKIT_SERVE_ASSETS_ADDRESSING"

        /// The addressing in the process's variables, or `auto`.
        ///
        /// - Throws: `CommandFailure` when the variable has another value.
        static var ofProcess: Self {
            get throws {
                guard let text = ProcessInfo.processInfo.environment[variable] else { return .auto }
                guard let addressing = Self(rawValue: text) else {
                    throw CommandFailure(
                        unusable: "\(variable): '\(text)' is not auto or path or host"
                    )
                }
                return addressing
            }
        }
    }

    /// The address.
    let address: String
    /// The option or the file that names the address, for messages.
    var source = "--assets"
    /// The way in which a URL names the bucket.
    var addressing = Addressing.auto
    /// A Boolean value that indicates whether clients download from the place itself.
    var isDirect = false
    /// The folder for uploads that are still arriving.
    var folder: String?
    /// A Boolean value that indicates whether several servers may use the assets, also in a folder that they share.
    var isShared = false

    /// Returns the storage of the assets.
    ///
    /// - Throws: `CommandFailure` for an address that is none, and for missing credentials.
    func storage() throws -> any AssetStorage {
        guard isShared, !address.contains(":"), !address.isEmpty else { return try bucket() }
        guard !isDirect else {
            throw CommandFailure(
                unusable:
                    "\(source) \(address): clients download directly from S3 only; leave direct-downloads out"
            )
        }
        do {
            return try FileAssetStorage(sharedFolder: address)
        } catch let error as StorageError {
            throw CommandFailure(unusable: "\(source) \(address): \(error.message)")
        }
    }

    #if S3
    /// Returns the storage of assets in S3.
    ///
    /// - Throws: `CommandFailure` for an address that is none, and for missing credentials.
    private func bucket(
        _ variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> any AssetStorage {
        guard S3Settings.isAddress(address) else { throw noAddress }
        do {
            var settings = try S3Settings(
                address: address,
                variables: variables,
                addressing: S3Settings.Addressing(rawValue: addressing.rawValue) ?? .automatic
            )
            settings.downloadsDirectly = isDirect
            settings.spoolFolder = folder
            return S3AssetStorage(settings, clock: SystemClock())
        } catch {
            throw CommandFailure(unusable: "\(source) \(address): \(error.description)")
        }
    }

    /// Returns whether a storage in S3 has no assets; nil for another one.
    private static func isBucketEmpty(_ storage: any AssetStorage) async throws -> Bool? {
        try await (storage as? S3AssetStorage)?.isEmpty()
    }
    #else
    /// Refuses each address, because this program cannot reach any.
    ///
    /// - Throws: `CommandFailure`.
    private func bucket() throws -> any AssetStorage {
        guard address.hasPrefix("s3://") else { throw noAddress }
        throw CommandFailure(
            unusable:
                "\(source) \(address): this program was built without assets in S3; build it with the "
                + "trait S3, such as with swift build --traits default,S3"
        )
    }

    /// Returns `nil`, because this program cannot reach S3.
    private static func isBucketEmpty(_ storage: any AssetStorage) async throws -> Bool? { nil }
    #endif

    /// Refuses a storage that cannot be reached, and one with the assets of another server for new data, whose
    /// server would consider all of them unused.
    ///
    /// - Parameters:
    ///   - storage: The storage.
    ///   - isNew: A Boolean value that indicates whether nothing was stored in the data yet.
    ///   - data: The place of the data.
    /// - Throws: `CommandFailure`, or an error for a storage that cannot be reached.
    static func check(_ storage: any AssetStorage, isNew: Bool, _ data: String) async throws {
        let isEmpty =
            if let isBucketEmpty = try await isBucketEmpty(storage) {
                isBucketEmpty
            } else {
                try (storage as? FileAssetStorage)?.isEmpty() ?? true
            }
        guard isNew, !isEmpty else { return }
        throw CommandFailure(
            unusable:
                "\(storage.location ?? "") has assets, and \(data) has nothing that needs them, so a "
                + "cleaning would remove them; restore a backup, or give another place"
        )
    }

    private var noAddress: CommandFailure {
        let others =
            isShared
            ? "or a folder that all servers share, and without the option they are in the database"
            : "and without the option they are files in the folder of the data"
        return CommandFailure(
            unusable:
                "\(source): '\(address)' is no place for assets; one is s3://my-bucket/assets, \(others)"
        )
    }
}

/// A storage that is not reached, for commands that need no assets.
struct UnreachedAssets: AssetStorage {
    let location: String?

    private var error: StorageError {
        StorageError(.other, "This command does not reach the assets in \(location ?? "the data")")
    }

    func store<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        limit: Int
    ) async throws -> StoredAsset where Chunks.Element == Data { throw error }

    func open(_ checksum: [UInt8]) async throws -> AssetContents? { throw error }

    func removeAsset(_ checksum: [UInt8], olderThan milliseconds: Int64) async throws {
        throw error
    }

    func removeAssets(
        olderThan milliseconds: Int64,
        unless isNeeded: @Sendable (_ checksum: [UInt8]) async throws -> Bool
    ) async throws { throw error }
}
